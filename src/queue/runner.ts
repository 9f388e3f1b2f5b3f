import { DelayedError, type Job as QueuedJob, UnrecoverableError, WaitingError, type Worker } from 'bullmq';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { z } from 'zod';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import { type AnyJob, RetryAfter } from '#src/queue/job.ts';
import { emptyForgedJob, LARGE_JOB, refuseLargeJobs } from '#src/queue/large-jobs.ts';
import { cancelLostJobs, isOfLostJob } from '#src/queue/lost-locks.ts';
import { createRefusals } from '#src/queue/refusals.ts';
import { delayUntilPlanned, removeForgedScheduler } from '#src/queue/scheduled-jobs.ts';
import type { TrustedClock } from '#src/queue/trusted-clock.ts';
import { NOT_POSTPONED, type Postponed, postponeMs } from '#src/rules/waiting.ts';

/**
 * A job whose worker was killed is "stalled". By default BullMQ fails it when it stalls a second time, regardless of its
 * `attempts`, so a deploy that kills workers would fail runs.
 */
const MAX_STALLED = 10;

/**
 * A worker renews the lock of a job at half this time. After a crash the lock expires, and the next check for stalled
 * jobs (at half this time too) frees the job: within 45 s.
 */
const LOCK_MS = 30_000;

/** Time for jobs to end after a shutdown has aborted them. */
const ABORT_MS = 5_000;

/**
 * Delay after a failed fetch (a deadlock in Postgres, a broken connection). BullMQ's default, 15 s, stops the queue of a
 * single worker for that time.
 */
const FETCH_AGAIN_MS = 1_000;

/** A job's progress: how it was postponed. A sum, because the clocks of workers differ and may jump. */
const progressSchema = z.object({ postponed_ms: z.number(), postponed_times: z.int() });

const postponedOf = (job: QueuedJob): Postponed =>
  progressSchema.safeParse(job.progress).data ?? NOT_POSTPONED;

/** The load of one queue in this process: jobs that run, their limit, and jobs started so far. */
export type Load = { name: string; active: number; concurrency: number; taken: number };

export type Runner = {
  /** Resolves when every worker is connected and takes jobs. */
  ready: () => Promise<void>;
  /**
   * Takes no new job, waits for running jobs, and aborts them after `drainMs`. An aborted job returns to its queue; this
   * does not count as an attempt. Resolves at most 5 s after `drainMs`: if the queue is unreachable, other workers take
   * the jobs when their locks expire.
   */
  stop: (drainMs: number) => Promise<void>;
  loads: () => Load[];
  /** Which queue takes no jobs because Redis refuses its commands, and has for as long as a lock lasts. */
  fault: () => string | undefined;
  /** Takes no further job while the clock of this process is wrong, and takes jobs again once it is right. */
  followClock: () => Promise<void>;
};

/** The error that BullMQ stores and the board shows: our own messages only. */
const storedError = (error: Error): Error => {
  const stored =
    error instanceof PermanentError ? new UnrecoverableError(error.message) : new Error(safeMessage(error));
  stored.stack = `${error.name}: ${stored.message}`;
  return stored;
};

/**
 * Starts one BullMQ worker for each job.
 * @param clock a process whose clock is far from it runs no job
 * @param options.lockMs shorter in tests of crashes
 */
export const startRunner = <Deps>(
  backend: QueueBackend,
  jobs: readonly AnyJob<Deps>[],
  deps: Deps,
  clock: TrustedClock,
  logger: Logger,
  onError: (error: Error) => void,
  { lockMs = LOCK_MS }: { lockMs?: number } = {},
): Runner => {
  const shutdown = new AbortController();
  const context = { deps, clock, logger, shutdown: shutdown.signal };
  const loads: Load[] = [];
  let isStopped = false;
  // BullMQ's workers report errors of the shared pool even after they are closed. The pool ends after them, and without
  // waiting for its sockets, so an embedded Postgres that then stops ends these sessions (57P01).
  const report = (error: Error): void => {
    if (!isStopped) onError(error);
  };
  const refusals = createRefusals(lockMs);
  let isPaused = false;
  const followClock = async (): Promise<void> => {
    const fault = clock.fault();
    if (isPaused === (fault !== undefined)) return;
    isPaused = fault !== undefined;
    if (isPaused)
      logger.error({ clock_offset_ms: Math.round(clock.offsetMs()) }, `no job is taken: ${fault}`);
    else logger.info('the clock is right again: jobs are taken');
    await Promise.all(workers.map((worker) => (isPaused ? worker.pause(true) : worker.resume())));
  };
  /** A machine that was suspended has a monotonic clock that is behind, so the clock of Postgres is read again. */
  const isClockRight = async (): Promise<boolean> => {
    if (clock.fault() !== undefined) await clock.read().catch(() => {});
    return clock.fault() === undefined;
  };
  const workers = jobs.map((job): Worker => {
    const { name, options } = job.spec;
    const load: Load = { name, active: 0, concurrency: options.concurrency, taken: 0 };
    loads.push(load);
    const worker = backend.createWorker(
      name,
      async (queued, token, lockSignal) => {
        if (!(await isClockRight())) {
          await followClock();
          await queued.moveToWait(token);
          throw new WaitingError();
        }
        load.active += 1;
        load.taken += 1;
        try {
          await removeForgedScheduler(job.spec, queued, worker);
          await delayUntilPlanned(queued, token, clock);
          return await runJob(job, queued, token, lockSignal, context);
        } finally {
          load.active -= 1;
        }
      },
      {
        autorun: false,
        concurrency: options.concurrency,
        maxStalledCount: MAX_STALLED,
        lockDuration: lockMs,
        stalledInterval: lockMs / 2,
        runRetryDelay: FETCH_AGAIN_MS,
      },
    );
    worker.on('error', (error) => {
      if (isOfLostJob(error)) return;
      refusals.note(name, error);
      report(error);
    });
    refuseLargeJobs(worker);
    const logLarge = (job_id = ''): void =>
      logger.error({ job: name, job_id: job_id.slice(0, FIELD_SHOWN) }, LARGE_JOB);
    worker.on('failed', (failed, { message }) => {
      if (message === LARGE_JOB) logLarge(failed?.id);
    });
    worker.on('stalled', (job_id) => {
      emptyForgedJob(backend, worker, job_id).then((wasForged) => {
        if (wasForged) logLarge(job_id);
      }, report);
    });
    cancelLostJobs(worker, logger);
    if (clock.fault() === undefined) worker.run().catch(report);
    return worker;
  });
  void followClock();
  return {
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    stop: async (drainMs) => {
      const deadline = setTimeout(() => shutdown.abort(), drainMs);
      await pTimeout(Promise.all(workers.map((worker) => worker.close())), {
        milliseconds: drainMs + ABORT_MS,
        fallback: () =>
          logger.warn('jobs did not end in time: other workers take them when their locks expire'),
      });
      clearTimeout(deadline);
      isStopped = true;
    },
    loads: () => loads.map((load) => ({ ...load })),
    fault: refusals.fault,
    followClock,
  };
};

/** At most this much is logged of an invalid payload, which may be of any size. */
const ISSUES_SHOWN = 10;
const FIELD_SHOWN = 100;

/** A payload for the log: of lists, how many. */
const withCounts = (payload: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );

type Context<Deps> = { deps: Deps; clock: TrustedClock; logger: Logger; shutdown: AbortSignal };

const runJob = async <Deps>(
  { spec, handler }: AnyJob<Deps>,
  job: QueuedJob,
  token: string | undefined,
  lockSignal: AbortSignal | undefined,
  { deps, clock, logger, shutdown }: Context<Deps>,
): Promise<unknown> => {
  const parsed = spec.payload.safeParse(job.data);
  if (!parsed.success) {
    const fields = parsed.error.issues
      .slice(0, ISSUES_SHOWN)
      .map((issue) => issue.path.join('.').slice(0, FIELD_SHOWN))
      .join(', ');
    throw new UnrecoverableError(`payload does not fit ${spec.name}: ${fields}`);
  }
  const log = logger.child({ job: spec.name, job_id: job.id });
  const { postponed_ms, ...before } = postponedOf(job);
  const postpone = (requestedMs: number | undefined, hasProgressed = false): RetryAfter | undefined => {
    const postponed_times = hasProgressed ? 0 : before.postponed_times;
    if (requestedMs === undefined) return undefined;
    const ms = postponeMs(requestedMs, { postponed_ms, postponed_times });
    if (ms === undefined) return undefined;
    return new RetryAfter(ms, { postponed_ms: postponed_ms + ms, postponed_times: postponed_times + 1 });
  };
  try {
    return await handler(parsed.data, {
      deps,
      signal: lockSignal === undefined ? shutdown : AbortSignal.any([shutdown, lockSignal]),
      log,
      lastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? spec.options.attempts),
      postpone,
      now: clock.now,
    });
  } catch (thrown) {
    if (thrown instanceof RetryAfter) {
      await job.updateProgress(thrown.postponed);
      await job.moveToDelayed(Math.round(clock.now() + thrown.ms), token);
      throw new DelayedError();
    }
    if (shutdown.aborted) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const error = coerceError(thrown);
    const failed = {
      ...withCounts(parsed.data as object),
      attempt: job.attemptsMade + 1,
      error: safeMessage(error),
    };
    // `cancelLostJobs` has logged it: another worker runs the job.
    if (lockSignal?.aborted !== true) log.warn(failed, 'job failed');
    throw storedError(error);
  }
};
