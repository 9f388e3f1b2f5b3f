import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import type { Producer } from '#src/queue/producer.ts';
import { reconcileSchedules } from '#src/queue/schedules.ts';
import { takeUpRuns } from '#src/runs/take-up.ts';

/** Any number, the same for every worker: whoever holds this advisory lock reconciles. */
const RECONCILE_LOCK = 7_205_311_847;

/**
 * Make the queue agree with the database: schedules follow the `applications` table, and open runs whose job
 * is gone are taken up. One reconciler at a time; a worker that does not get the lock does nothing.
 */
export const reconcile = async (
  sql: Database,
  producer: Producer,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> => {
  const session = await sql.reserve();
  try {
    const [lock] = await session<{ held: boolean }[]>`select pg_try_advisory_lock(${RECONCILE_LOCK}) as held`;
    if (lock?.held !== true) return;
    try {
      const schedules = await reconcileSchedules(sql, producer, signal);
      const runs = await takeUpRuns(sql, producer, signal);
      const changes = { ...schedules, ...runs };
      if (Object.values(changes).some((count) => count > 0)) logger.info(changes, 'reconciled');
    } finally {
      await session`select pg_advisory_unlock(${RECONCILE_LOCK})`;
    }
  } finally {
    session.release();
  }
};
