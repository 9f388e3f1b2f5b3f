import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { deleteSilentWorkers, endSilentSessions } from '#db/queries/workers.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { FIRST_SCHEDULE, reconcileSchedules, type SchedulePosition } from '#src/ingest/schedules.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { Producer } from '#src/queue/producer.ts';

/** A session that leaves a statement incomplete for this time is ended: its process was stopped. */
const SILENT_MS = 30_000;

/**
 * A pass ends at this deadline, and the next one continues. `SESSION_IDLE` is longer: after it, Postgres ends the
 * session of a reconciler that was stopped, and another worker gets the lock.
 */
const PASS_MS = 40_000;
const SESSION_IDLE = '60s';

type Context = { sql: Database; backend: QueueBackend; producer: Producer; logger: Logger };
/** @param from where the former pass of this process ended */
type Options = { idleMs?: number | undefined; passMs?: number; from?: SchedulePosition };

/**
 * Make the queue agree with the database: set the schedules of the `applications` table, recover open runs whose job
 * is lost, end silent sessions, free job locks with a wrong expiry, and delete the rows of killed workers. Repeating it
 * is safe. A worker that does not get the reconciler's lock does nothing.
 *
 * The lock belongs to a transaction that does nothing else, because Postgres may end its session while the pass waits
 * for the queue. If the lock is lost, the pass is aborted. `reconcile` returns when the pass has ended, so a process
 * runs at most one pass at a time.
 * @returns where the next pass of this process continues: a pass covers 50,000 schedules
 * @param context its queues have the role `producer`: calls fail while the queue is unreachable, so a pass ends
 */
export const reconcile = async (
  context: Context,
  shutdown: AbortSignal,
  { passMs = PASS_MS, idleMs, from = FIRST_SCHEDULE }: Options = {},
): Promise<SchedulePosition> => {
  const unlocked = new AbortController();
  const signal = AbortSignal.any([shutdown, unlocked.signal, AbortSignal.timeout(passMs)]);
  let pass = Promise.resolve(from);
  const locked = context.sql.begin(async (session) => {
    await session`select set_config('idle_in_transaction_session_timeout', ${SESSION_IDLE}, true)`;
    const [lock] = await session<{ locked: boolean }[]>`
      select pg_try_advisory_xact_lock(${LOCKS.reconcile}) as locked`;
    if (lock?.locked !== true) return;
    pass = runPass(context, signal, from, idleMs);
    await pass;
  });
  try {
    await locked;
  } finally {
    unlocked.abort();
    await pass.catch(() => {});
  }
  return pass;
};

const runPass = async (
  { sql, backend, producer, logger }: Context,
  signal: AbortSignal,
  from: SchedulePosition,
  idleMs: number | undefined,
): Promise<SchedulePosition> => {
  const sessionsEnded = await endSilentSessions(sql, idleMs ?? SILENT_MS);
  // If one of the three fails, the others still run to their end.
  const [locks, runs, schedules] = await Promise.allSettled([
    backend.freeMisdatedLocks(),
    recoverRuns(sql, producer, signal, { idleMs }),
    reconcileSchedules(sql, producer, signal, from),
  ]);
  if (locks.status === 'rejected') throw locks.reason;
  if (runs.status === 'rejected') throw runs.reason;
  if (schedules.status === 'rejected') throw schedules.reason;
  await deleteSilentWorkers(sql);
  const { next, ...counts } = schedules.value;
  const changes = { ...counts, ...runs.value, sessionsEnded, locksFreed: locks.value };
  const isComplete = !signal.aborted && next === FIRST_SCHEDULE;
  if (!isComplete || Object.values(changes).some((count) => count > 0))
    logger.info({ ...changes, isComplete }, 'reconciled');
  return next;
};
