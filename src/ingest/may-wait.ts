import { type Queryable, readClock } from '#db/client.ts';
import type { RunRow } from '#db/queries/runs.ts';

/** Shorter than the silence after which an open run is given up (take-up.ts): it ends by its own word first. */
const WAIT_MAX_MS = 20 * 60_000;

/**
 * May this run wait as long as the application asks (Retry-After)? Not when it would stand still for more than
 * 20 minutes in all: an application that asks again and again is then treated as one that fails.
 */
export const mayWait = async (
  sql: Queryable,
  run: Pick<RunRow, 'progress_at'>,
  waitMs: number,
): Promise<boolean> => {
  const now = (await readClock(sql))();
  return now.getTime() + waitMs - run.progress_at.getTime() <= WAIT_MAX_MS;
};
