import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job as QueuedJob, UnrecoverableError, WaitingError, type Worker } from 'bullmq';
import type { Logger } from 'pino';
import { z } from 'zod';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import { type AnyJob, POSTPONE_MIN_MS } from '#src/queue/job.ts';

/**
 * A job killed together with its worker comes back as "stalled". BullMQ fails it after one such recovery by
 * default, whatever its `attempts`; a deploy that kills workers must not cost runs.
 */
const MAX_STALLED = 10;

/**
 * While a job's worker lives it renews its lock at half this time. After a crash the lock runs out, and the
 * next look for stalled jobs (every half of it) frees the job: within 45 s.
 */
const LOCK_MS = 30_000;

/** After the abort at the deadline of a drain, jobs have this long to end. */
const ABORT_MS = 5_000;

/**
 * A worker whose fetch failed (a deadlock between two statements of the queue in Postgres, a connection that
 * broke) fetches again after this long; BullMQ's own 15 s would let the whole queue stand still.
 */
const FETCH_AGAIN_MS = 1_000;

/**
 * A job that is put off again and again spends no try: without this it would never end. Its waits are added up in
 * what Bull Board shows as its progress, for clocks may jump and workers' differ.
 */
const POSTPONED_MAX_MS = 60 * 60_000;
const postponedSchema = z.object({ postponed_ms: z.number() });

export type Runner = {
  /** Resolves when every worker is connected and takes jobs. */
  ready: () => Promise<void>;
  /**
   * Take no new job, let those in hand end, abort them at the deadline, and return once all have ended.
   * An aborted job goes back to its queue without having spent a try. Returns a few seconds after the deadline
   * at the latest: a queue that is away can't be told, and finds the jobs by their locks later.
   */
  stop: (drainMs: number) => Promise<void>;
  /** Each queue's load in this process: jobs in hand, how many at most, and jobs taken since the start. */
  loads: () => Load[];
};

export type Load = { name: string; active: number; concurrency: number; taken: number };

/** What BullMQ stores of an error, and Bull Board shows: our own words only. */
const storedError = (error: Error): Error => {
  const stored =
    error instanceof PermanentError ? new UnrecoverableError(error.message) : new Error(safeMessage(error));
  stored.stack = `${error.name}: ${stored.message}`;
  return stored;
};

/** Start one BullMQ worker for each job of the list. @param options.lockMs shorter for tests of what a crash leaves */
export const startRunner = <Deps>(
  backend: QueueBackend,
  jobs: readonly AnyJob<Deps>[],
  deps: Deps,
  logger: Logger,
  onError: (error: Error) => void,
  { lockMs = LOCK_MS }: { lockMs?: number } = {},
): Runner => {
  const shutdown = new AbortController();
  const loads = new Map<string, Load>(
    jobs.map(({ spec: { name, options } }) => [
      name,
      { name, active: 0, concurrency: options.concurrency, taken: 0 },
    ]),
  );
  const workers = jobs.map((job): Worker => {
    const { name, options } = job.spec;
    const worker = backend.createWorker(
      name,
      (queued, token, signal) =>
        counted(loads.get(name), () =>
          handle(job, queued, token, signal, { deps, logger, shutdown: shutdown.signal }),
        ),
      {
        concurrency: options.concurrency,
        maxStalledCount: MAX_STALLED,
        lockDuration: lockMs,
        stalledInterval: lockMs / 2,
        runRetryDelay: FETCH_AGAIN_MS,
      },
    );
    worker.on('error', onError);
    // Somebody else has the job, or will: what this worker still does for it is in vain.
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) worker.cancelJob(id, 'lock lost');
    });
    return worker;
  });
  return {
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    stop: async (drainMs) => {
      const given = new AbortController();
      const deadline = setTimeout(() => shutdown.abort(), drainMs);
      const ended = Promise.all(workers.map((worker) => worker.close()));
      const givenUp = sleep(drainMs + ABORT_MS, 'given up', { signal: given.signal }).catch(() => undefined);
      if ((await Promise.race([ended, givenUp])) === 'given up')
        logger.warn('jobs did not end in time: they are left to their locks');
      given.abort();
      clearTimeout(deadline);
    },
    loads: () => [...loads.values()].map((load) => ({ ...load })),
  };
};

const counted = async <Result>(load: Load | undefined, work: () => Promise<Result>): Promise<Result> => {
  if (load === undefined) return work();
  load.active += 1;
  load.taken += 1;
  try {
    return await work();
  } finally {
    load.active -= 1;
  }
};

type Context<Deps> = { deps: Deps; logger: Logger; shutdown: AbortSignal };

const handle = async <Deps>(
  { spec, handler }: AnyJob<Deps>,
  job: QueuedJob,
  token: string | undefined,
  lockSignal: AbortSignal | undefined,
  { deps, logger, shutdown }: Context<Deps>,
): Promise<unknown> => {
  const parsed = spec.payload.safeParse(job.data);
  if (!parsed.success) {
    throw new UnrecoverableError(
      `payload does not fit ${spec.name}: ${parsed.error.issues.map((issue) => issue.path.join('.')).join(', ')}`,
    );
  }
  const signal = lockSignal === undefined ? shutdown : AbortSignal.any([shutdown, lockSignal]);
  const log = logger.child({ job: spec.name, job_id: job.id });
  /** All that the job will have waited for, with this wait. */
  const postponedMs = (ms: number): number =>
    (postponedSchema.safeParse(job.progress).data?.postponed_ms ?? 0) + Math.max(ms, POSTPONE_MIN_MS);
  try {
    return await handler(parsed.data, {
      deps,
      signal,
      log,
      lastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? spec.options.attempts),
      mayPostpone: (ms) => postponedMs(ms) <= POSTPONED_MAX_MS,
      postpone: async (ms) => {
        const postponed_ms = postponedMs(ms);
        await job.updateProgress({ postponed_ms });
        await job.moveToDelayed(Date.now() + Math.max(ms, POSTPONE_MIN_MS), token);
        throw new DelayedError();
      },
    });
  } catch (thrown) {
    if (thrown instanceof DelayedError) throw thrown;
    if (shutdown.aborted) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const error = coerceError(thrown);
    const failed = { ...(parsed.data as object), attempt: job.attemptsMade + 1, error: safeMessage(error) };
    log.warn(failed, 'job failed');
    throw storedError(error);
  }
};
