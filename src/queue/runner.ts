import { DelayedError, type Job, UnrecoverableError, WaitingError, type Worker } from 'bullmq';
import type { Logger } from 'pino';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { AnyJob } from '#src/queue/define-job.ts';
import type { JobDependencies } from '#src/queue/dependencies.ts';

/**
 * A job killed together with its worker comes back as "stalled". BullMQ fails it after one such recovery by
 * default, whatever its `attempts`; a deploy that kills workers must not cost runs.
 */
const MAX_STALLED = 10;

/** While a job's worker lives it renews its lock at half this time; 30 s after a crash the job is free again. */
const LOCK_MS = 30_000;

export type Runner = {
  /** Resolves when every worker is connected and takes jobs. */
  ready: () => Promise<void>;
  /**
   * Take no new job, let those in hand end, abort them at the deadline, and return once all have ended.
   * An aborted job goes back to its queue without having spent a try.
   */
  stop: (drainMs: number) => Promise<void>;
};

const assertDistinct = (jobs: readonly AnyJob[]): void => {
  const names = jobs.map((job) => job.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two jobs are named ${twice}: see jobs/index.ts`);
};

/** What BullMQ stores of an error, and Bull Board shows: our own words only. */
const storedError = (error: Error): Error => {
  const stored =
    error instanceof PermanentError ? new UnrecoverableError(error.message) : new Error(safeMessage(error));
  stored.stack = `${error.name}: ${stored.message}`;
  return stored;
};

/** Start one BullMQ worker for each job of the list. */
export const startRunner = (
  backend: QueueBackend,
  jobs: readonly AnyJob[],
  deps: JobDependencies,
  logger: Logger,
  onError: (error: Error) => void,
): Runner => {
  assertDistinct(jobs);
  const shutdown = new AbortController();
  const workers = jobs.map((definition): Worker => {
    const worker = backend.createWorker(
      definition.name,
      (job, token, signal) =>
        handle(definition, job, token, signal, { deps, logger, shutdown: shutdown.signal }),
      { concurrency: definition.options.concurrency, maxStalledCount: MAX_STALLED, lockDuration: LOCK_MS },
    );
    worker.on('error', onError);
    return worker;
  });
  return {
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    stop: async (drainMs) => {
      const deadline = setTimeout(() => shutdown.abort(), drainMs);
      await Promise.all(workers.map((worker) => worker.close()));
      clearTimeout(deadline);
    },
  };
};

type Surroundings = { deps: JobDependencies; logger: Logger; shutdown: AbortSignal };

const handle = async (
  definition: AnyJob,
  job: Job,
  token: string | undefined,
  lockSignal: AbortSignal | undefined,
  { deps, logger, shutdown }: Surroundings,
): Promise<unknown> => {
  const parsed = definition.payload.safeParse(job.data);
  if (!parsed.success) {
    throw new UnrecoverableError(
      `payload does not fit ${definition.name}: ${parsed.error.issues.map((issue) => issue.path.join('.')).join(', ')}`,
    );
  }
  const signal = lockSignal === undefined ? shutdown : AbortSignal.any([shutdown, lockSignal]);
  const log = logger.child({ job: definition.name, job_id: job.id });
  try {
    return await definition.handler(parsed.data, {
      deps,
      signal,
      log,
      lastAttempt: job.attemptsMade + 1 >= definition.options.attempts,
      postpone: async (ms) => {
        await job.moveToDelayed(Date.now() + ms, token);
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
