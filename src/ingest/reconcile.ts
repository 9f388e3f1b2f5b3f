import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { deleteSilentWorkers, endSilentSessions } from '#db/queries/workers.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { reconcileSchedules } from '#src/ingest/schedules.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { Producer } from '#src/queue/producer.ts';

/** A running process sends the messages of one statement without a pause. */
const SILENT_MS = 30_000;

type Context = { sql: Database; backend: QueueBackend; producer: Producer; logger: Logger };

/**
 * Make the queue agree with the database: set the schedules of the `applications` table, recover open runs whose job
 * is lost, and remove what killed workers left. Repeating it is safe. A worker that does not get the reconciler's lock
 * does nothing.
 *
 * The lock belongs to a transaction, and Postgres ends the session of a reconciler that was stopped: a dead reconciler
 * never blocks the others.
 */
export const reconcile = async (
  { sql, backend, producer, logger }: Context,
  signal: AbortSignal,
  options: { idleMs?: number } = {},
): Promise<void> => {
  await sql.begin(async (session) => {
    await session`set local idle_in_transaction_session_timeout = '60s'`;
    const [lock] = await session<{ locked: boolean }[]>`
      select pg_try_advisory_xact_lock(${LOCKS.reconcile}) as locked`;
    if (lock?.locked !== true) return;
    const sessionsEnded = await endSilentSessions(session, options.idleMs ?? SILENT_MS);
    // A failure of one does not stop the others.
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
