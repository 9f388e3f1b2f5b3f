import { randomUUID } from 'node:crypto';
import type { Database } from '#db/client.ts';
import {
  type DueRefresh,
  deleteRefreshes,
  hasRecentRefreshRun,
  listDueRefreshes,
  listRefreshes,
  postponeRefreshes,
} from '#db/queries/refreshes.ts';
import { PULL_MAX, pullGameDetail } from '#src/ingest/specs.ts';
import { startRun } from '#src/ingest/steps.ts';
import type { Producer } from '#src/queue/producer.ts';
import { STORAGE } from '#src/rules/budgets.ts';

type Foundation = { sql: Database; producer: Producer };

/** Applications of one turn; the others follow in the next. */
const BATCH = 1_000;
/** Games of one job: as many as the rate allows in this time, so that a job ends soon. */
const JOB_S = 5;
/** The whole list is read at most once in this time. */
const LIST_PAUSE_MS = 60_000;

/** Adds a job for games that the application has changed, unless one runs. */
const pullGames = async (
  { sql, producer }: Foundation,
  { application_id, rate }: DueRefresh,
): Promise<void> => {
  const limit = Math.min(PULL_MAX, Math.max(1, Math.floor(rate * JOB_S)));
  const { games } = await listRefreshes(sql, application_id, limit);
  if (games.length === 0) return;
  const application_game_ids = games.map((request) => request.application_game_id);
  const id = randomUUID();
  const placement = { id, once: `refresh.${application_id}` };
  const job = await producer.add(pullGameDetail, { application_id, application_game_ids }, placement);
  if (job.id !== id) return;
  await deleteRefreshes(sql, application_id, games);
  await postponeRefreshes(sql, application_id, (games.length / rate) * 1_000);
};

/** Opens a run for the whole list, unless one is open or has just begun. */
const readList = async (
  foundation: Foundation,
  { application_id, has_open_run }: DueRefresh,
): Promise<void> => {
  const { sql } = foundation;
  if (has_open_run || (await hasRecentRefreshRun(sql, application_id, LIST_PAUSE_MS))) return;
  const { list } = await listRefreshes(sql, application_id, 1);
  if (list === undefined) return;
  const options = { trigger: 'refresh', full: list.is_full, accept_withdrawals: false } as const;
  const { opened } = await startRun(foundation, { application_id, ...options });
  if (opened) await deleteRefreshes(sql, application_id, [list]);
};

/**
 * Pull what applications have requested by `game/refresh`: at most one job an application at a time. The job shares the
 * application's rate with a run by turns (src/ingest/for-each-paced.ts). A request is deleted when its job is in the
 * queue, so none is lost; one that is repeated meanwhile is pulled again.
 */
export const addRefreshes = async (foundation: Foundation): Promise<void> => {
  const due = await listDueRefreshes(foundation.sql, BATCH, STORAGE.bytesPerDay);
  await Promise.all(
    due.map(async (application) => {
      await readList(foundation, application);
      await pullGames(foundation, application);
    }),
  );
};
