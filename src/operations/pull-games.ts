/** Details that operators request. The request is in Postgres when the operation ends; a worker pulls them. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { listFailedGameIds } from '#db/queries/failures.ts';
import { type GamesBefore, readGamesBefore } from '#db/queries/pulled-games.ts';
import { requestGames } from '#db/queries/refreshes.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';
import { identifier } from '#src/contract/text.ts';
import {
  applicationSubject,
  oneApplication,
  requireActiveApplication,
} from '#src/operations/applications.ts';
import { defineOperation } from '#src/operations/operation.ts';

/** Requested games as they were before; `countPulled` compares. */
export type RequestedGames = GamesBefore & { application_id: string };

const requested = z.object({
  application_id: z.string(),
  requested_at: z.string(),
  games: z.array(
    z.object({
      application_game_id: z.string(),
      revision: z.int().nullable().describe('The stored revision; null: the game is not stored.'),
    }),
  ),
});

const request = async (
  tx: Queryable,
  application_id: string,
  ids: readonly string[],
): Promise<RequestedGames> => {
  const before = await readGamesBefore(tx, application_id, ids);
  if (ids.length > 0) await requestGames(tx, application_id, ids);
  return { application_id, ...before };
};

export const pullGames = defineOperation({
  name: 'game.pull',
  title: 'Pull games of an application now',
  answer: requested,
  right: 'manage_applications',
  input: oneApplication.extend({ application_game_ids: z.array(identifier).min(1).max(10_000) }),
  subject: applicationSubject,
  run: async (tx, { application_id, application_game_ids }) => {
    await requireActiveApplication(tx, application_id);
    return request(tx, application_id, [...new Set(application_game_ids)].sort());
  },
  log: ({ games }) => {
    const application_game_ids = games.slice(0, LOGGED_IDS_MAX).map((game) => game.application_game_id);
    return { details: { games: games.length, application_game_ids } };
  },
});

export const retryFailures = defineOperation({
  name: 'failure.retry',
  title: 'Pull the failed games of an application now',
  answer: requested,
  right: 'manage_applications',
  input: oneApplication,
  subject: applicationSubject,
  run: async (tx, { application_id }) => {
    await requireActiveApplication(tx, application_id);
    return request(tx, application_id, await listFailedGameIds(tx, application_id));
  },
  log: ({ games }) => (games.length === 0 ? [] : { details: { games: games.length } }),
});
