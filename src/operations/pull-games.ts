/** Details that operators request. */
import { z } from 'zod';
import { listFailedGameIds } from '#db/queries/failures.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';
import { identifier } from '#src/contract/text.ts';
import { PULL_MAX, pullGameDetail } from '#src/ingest/specs.ts';
import {
  applicationSubject,
  oneApplication,
  requireActiveApplication,
} from '#src/operations/applications.ts';
import { type Context, defineOperation } from '#src/operations/operation.ts';

/** The games that were requested, and the ids of the jobs that pull them. */
export type PulledGames = { games: number; jobs: string[] };

/**
 * Adds jobs that pull these games, 100 a job. The jobs run one after another: at once, they would only share the
 * application's rate. A request for the games of a job that waits joins that job.
 */
const addPulls = async (
  { producer: open }: Context,
  application_id: string,
  ids: readonly string[],
): Promise<PulledGames> => {
  const payloads = [];
  for (let start = 0; start < ids.length; start += PULL_MAX)
    payloads.push({ application_id, application_game_ids: ids.slice(start, start + PULL_MAX) });
  const [only, ...others] = payloads;
  if (only === undefined) return { games: 0, jobs: [] };
  const producer = await open();
  const jobs =
    others.length === 0
      ? [await producer.addOrJoin(pullGameDetail, only)]
      : await producer.addInTurn(pullGameDetail, payloads);
  return { games: ids.length, jobs: jobs.flatMap(({ id }) => id ?? []) };
};

export const pullGames = defineOperation({
  name: 'game.pull',
  title: 'Pull games of an application now',
  right: 'manage_applications',
  input: oneApplication.extend({ application_game_ids: z.array(identifier).min(1).max(10_000) }),
  subject: applicationSubject,
  run: async (tx, { application_id, application_game_ids }) => {
    await requireActiveApplication(tx, application_id);
    return [...new Set(application_game_ids)].sort();
  },
  log: (ids) => ({ details: { games: ids.length, application_game_ids: ids.slice(0, LOGGED_IDS_MAX) } }),
  after: (ids, { application_id }, context) => addPulls(context, application_id, ids),
});

export const retryFailures = defineOperation({
  name: 'failure.retry',
  title: 'Pull the failed games of an application now',
  right: 'manage_applications',
  input: oneApplication,
  subject: applicationSubject,
  run: async (tx, { application_id }) => {
    await requireActiveApplication(tx, application_id);
    return listFailedGameIds(tx, application_id);
  },
  log: (ids) => (ids.length === 0 ? [] : { details: { games: ids.length } }),
  after: (ids, { application_id }, context) => addPulls(context, application_id, ids),
});
