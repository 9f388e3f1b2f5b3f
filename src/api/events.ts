import type { FastifyInstance } from 'fastify';
import type { Database } from '#db/client.ts';
import { findPosition, listEventsAfter } from '#db/queries/events.ts';
import { ApiError } from '#src/api/api-error.ts';
import { callerApplicationId, callerOf, type Guard } from '#src/api/authenticate.ts';
import { LONG_BODY_MAX_BYTES, success } from '#src/api/wire.ts';
import {
  LIST_EVENTS_PATH,
  type ListEventsRequest,
  listEventsRequestSchema,
  listEventsResponseSchema,
  REFRESH_PATH,
  type RefreshRequest,
  refreshRequestSchema,
  refreshResponseSchema,
} from '#src/contract/events.ts';
import { type FormatAuditTime, toEventDocument } from '#src/events/document.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { applicationCaller } from '#src/operations/operate.ts';
import { refreshGames } from '#src/operations/refresh-games.ts';

type EventRouteOptions = { sql: Database; formatAuditTime: FormatAuditTime; guard: Guard };

/** event.list and game.refresh, additions to the interface document, each for the token's application alone. */
export const addEventRoutes = (
  app: FastifyInstance,
  { sql, formatAuditTime, guard }: EventRouteOptions,
): void => {
  app.post<{ Body: ListEventsRequest }>(
    LIST_EVENTS_PATH,
    {
      onRequest: guard.onRequest,
      schema: { body: listEventsRequestSchema, response: { 200: listEventsResponseSchema } },
    },
    async (request) => {
      const application_id = callerApplicationId(request);
      const { after, limit } = request.body;
      // First, because a delivery may have named an event that no reader has listed yet.
      await placeEvents(sql);
      const position = after === '' ? 0 : await findPosition(sql, application_id, after);
      if (position === undefined) throw new ApiError('goneEvent');
      const list = await listEventsAfter(sql, application_id, position, limit);
      const next = list.at(-1)?.event_id ?? after;
      return success({ list: list.map((event) => toEventDocument(event, formatAuditTime)), next });
    },
  );

  app.post<{ Body: RefreshRequest }>(
    REFRESH_PATH,
    {
      ...guard,
      bodyLimit: LONG_BODY_MAX_BYTES,
      schema: { body: refreshRequestSchema, response: { 200: refreshResponseSchema } },
    },
    async (request) => {
      const caller = applicationCaller(callerApplicationId(request), callerOf(request).token_id);
      const accepted = await refreshGames(sql, caller, request.body.game_ids);
      if (accepted === undefined)
        throw new ApiError('tooManyRefreshes', undefined, { headers: { 'retry-after': '60' } });
      return success({ accepted });
    },
  );
};
