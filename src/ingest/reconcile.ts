import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { deleteSilentWorkers, endSilentSessions } from '#db/queries/workers.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { reconcileSchedules } from '#src/ingest/schedules.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { Producer } from '#src/queue/producer.ts';

/** Between the messages of one statement a living process takes no time at all. */
const SILENT_MS = 30_000;

type Surroundings = { sql: Database; backend: QueueBackend; producer: Producer; logger: Logger };

/**
 * Make the queue agree with the database: schedules follow the `applications` table, open runs whose job is
 * gone are taken up, and what killed workers left goes. One reconciler at a time; a worker that does not get
 * the lock does nothing.
 *
 * The lock is a transaction's, and Postgres itself ends the session of a reconciler that fell silent (stopped,
 * or its machine gone): a dead one never keeps the others from healing the fleet. Everything done here may be
 * done twice.
 */
export const reconcile = async (
  { sql, backend, producer, logger }: Surroundings,
  signal: AbortSignal,
  options: { idleMs?: number } = {},
): Promise<void> => {
  await sql.begin(async (session) => {
    await session`set local idle_in_transaction_session_timeout = '60s'`;
    const [lock] = await session<{ held: boolean }[]>`
      select pg_try_advisory_xact_lock(${LOCKS.reconcile}) as held`;
    if (lock?.held !== true) return;
    const sessionsEnded = await endSilentSessions(session, options.idleMs ?? SILENT_MS);
    // None keeps another from healing.
    const [locks, runs, schedules] = await Promise.allSettled([
      backend.freeAstrayLocks(),
      recoverRuns(sql, producer, signal, options),
      reconcileSchedules(session, producer, signal),
    ]);
    if (locks.status === 'rejected') throw locks.reason;
    if (runs.status === 'rejected') throw runs.reason;
    if (schedules.status === 'rejected') throw schedules.reason;
    await deleteSilentWorkers(session);
    const changes = { ...schedules.value, ...runs.value, sessionsEnded, locksFreed: locks.value };
    if (Object.values(changes).some((count) => count > 0)) logger.info(changes, 'reconciled');
  });
};
