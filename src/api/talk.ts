import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '#db/client.ts';
import { callerApplicationId, callerOf, type Guard } from '#src/api/authenticate.ts';
import { LONG_BODY_MAX_BYTES, success } from '#src/api/wire.ts';
import {
  APPEAL_PATH,
  MESSAGE_PATH,
  type WriteRequest,
  writeRequestSchema,
  writeResponseSchema,
} from '#src/contract/talk.ts';
import { appealRejection } from '#src/operations/appeals.ts';
import { applicationCaller, operateAsApplication } from '#src/operations/operate.ts';
import type { Caller } from '#src/operations/operation.ts';
import { messageGame } from '#src/operations/threads.ts';

type Options = { sql: Database; guard: Guard };
type Written = { game_id: string; written_at: Date };

/** game.message and game.appeal, additions to the interface document, for games of the token's application alone. */
export const addTalkRoutes = (app: FastifyInstance, { sql, guard }: Options): void => {
  const add = (path: string, write: (body: WriteRequest, caller: Caller) => Promise<Written>) =>
    app.post(
      path,
      {
        ...guard,
        bodyLimit: LONG_BODY_MAX_BYTES,
        schema: { body: writeRequestSchema, response: { 200: writeResponseSchema } },
      },
      async (request: FastifyRequest<{ Body: WriteRequest }>) => {
        const caller = applicationCaller(callerApplicationId(request), callerOf(request).token_id);
        const { game_id, written_at } = await write(request.body, caller);
        return success({ game_id, written_at: written_at.toISOString() });
      },
    );

  add(MESSAGE_PATH, (body, caller) => operateAsApplication(messageGame, body, caller, sql));
  add(APPEAL_PATH, async (body, caller) => {
    const { game_id, opened_at } = await operateAsApplication(appealRejection, body, caller, sql);
    return { game_id, written_at: opened_at };
  });
};
