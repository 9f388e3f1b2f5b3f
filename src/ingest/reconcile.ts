import type { Logger } from 'pino';
import { type Database, readTime } from '#db/client.ts';
import { tryLock } from '#db/locks.ts';
import { correctTimesAhead } from '#db/queries/times-ahead.ts';
import { endExpiredVerdicts } from '#db/queries/verdicts.ts';
import { deleteSilentWorkers, endSilentSessions } from '#db/queries/workers.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { FIRST_SCHEDULE, reconcileSchedules, type SchedulePosition } from '#src/ingest/schedules.ts';
import { tick } from '#src/ingest/specs.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import { redateDelayedJobs } from '#src/queue/misdated-jobs.ts';
import type { Producer } from '#src/queue/producer.ts';

/** A session that has sent only a part of a statement for this long is ended, because its process was stopped. */
const SILENT_MS = 30_000;

/** A pass ends at this deadline, and the next one continues. */
const PASS_MS = 40_000;
/** Longer than a pass. Postgres ends the session of a reconciler whose process was stopped, and releases its lock. */
const SESSION_IDLE = '60s';

type Context = { sql: Database; backend: QueueBackend; producer: Producer; logger: Logger };
type Options = {
  /** Overrides both limits: how long a session may be silent, and how long a run may be without a job. */
  idleMs?: number | undefined;
  passMs?: number;
  /** The result of the former pass. */
  from?: SchedulePosition;
};

/**
 * Makes the queue agree with the database: sets the schedules of the `applications` table, recovers open runs whose job is
 * lost, ends silent sessions, corrects the times that wrong clocks gave to jobs, deletes surplus finished jobs and the rows
 * of killed workers, and records the end of verdicts. Repeating it is safe. A worker that does not get the reconciler's
 * lock does nothing.
 *
 * The transaction of the lock does nothing else, because the pass uses other connections. If Postgres ends the session of
 * the lock, the pass is aborted. `reconcile` returns when the pass has ended, so a process runs at most one pass at a time.
 * @param context its queues fail while the queue is unreachable (use `producer`) instead of waiting, so a pass ends
 * @returns where the next pass of this process continues: a pass covers 50,000 schedules
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
    if (!(await tryLock(session, 'reconcile'))) return;
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
  const timesCorrected = await correctTimesAhead(sql);
  const verdictsEnded = await endExpiredVerdicts(sql);
  await deleteSilentWorkers(sql);
  const steps = [
    backend.freeMisdatedLocks(),
    producer.trim(signal),
    recoverRuns(sql, producer, signal, { idleMs }),
    reconcileSchedules(sql, producer, signal, from),
  ] as const;
  // If one of the four fails, the others still run to their end.
  await Promise.allSettled(steps);
  const [locksFreed, , runs, schedules] = await Promise.all(steps);
  // After the others, because it reads the queues of the media process: what somebody wrote there may end the connection.
  const now = (await readTime(sql)).getTime();
  const redated = await redateDelayedJobs(backend, producer, tick, now, signal, logger);
  const { next, isComplete, ...counts } = schedules;
  const changes = {
    ...counts,
    ...runs,
    sessionsEnded,
    timesCorrected,
    verdictsEnded,
    locksFreed,
    redated,
  };
  if (!isComplete || Object.values(changes).some((count) => count > 0))
    logger.info({ ...changes, isComplete }, 'reconciled');
  return next;
};
