import type { Logger } from 'pino';
import type { z } from 'zod';
import { CatalogueError } from '#src/errors.ts';
import type { Postponed } from '#src/rules/waiting.ts';

/** PostgreSQL refuses a larger job; Redis stores it, and it is emptied if it stalls. Our largest job has 50 KB. */
export const JOB_BYTES_MAX = 1_000_000;

/** How BullMQ runs the jobs of one queue. */
export type JobOptions = {
  /** Attempts in all. BullMQ is the only retry layer. */
  attempts: number;
  /** Delay before the second attempt; it doubles each time, with jitter. */
  backoffMs: number;
  /** Jobs of this queue that one worker process runs at once. */
  concurrency: number;
};

/** A job without its handler. Its name is also the name of its queue, of its file in jobs/, and on the board. */
export type JobSpec<Payload = unknown> = {
  name: string;
  /** Ids only, because Redis and the board show payloads in clear. A new field is optional, for jobs already queued. */
  payload: z.ZodType<Payload>;
  options: JobOptions;
  /** The job's title on the board, from ids alone: `acme page 3`. */
  title: (payload: Payload) => string;
  /** The scheduler that adds this job. Absent: none does. */
  scheduler?: (payload: Payload) => string;
};

// biome-ignore lint/suspicious/noExplicitAny: no other type covers the specifications of all payloads
export type AnySpec = JobSpec<any>;

/** Defines a specification. The type of the payload follows from its schema. */
export const defineSpec = <Schema extends z.ZodType>(
  spec: JobSpec<z.infer<Schema>> & { payload: Schema },
): JobSpec<z.infer<Schema>> => spec;

/** What a handler receives beside its payload. */
export type JobContext<Deps> = {
  deps: Deps;
  /** Aborts at the deadline of a shutdown and when the job's lock is lost. Pass it to each call that waits. */
  signal: AbortSignal;
  /** Is this BullMQ's last attempt? */
  lastAttempt: boolean;
  log: Logger;
  /**
   * @param requestedMs the delay that an application requests (Retry-After)
   * @param hasProgressed did this execution of the job write anything?
   * @returns the error that postpones the job; undefined without a request, or if the job was postponed enough
   *   (src/rules/waiting.ts)
   */
  postpone: (requestedMs: number | undefined, hasProgressed?: boolean) => RetryAfter | undefined;
  /** The clock of Postgres, in milliseconds since 1970. */
  now: () => number;
};

/** A handler throws it to postpone its job by `ms`. It does not count as an attempt. Made by `postpone`. */
export class RetryAfter extends CatalogueError {
  override readonly name = 'RetryAfter';
  readonly ms: number;
  /** How the job was postponed, this time included. */
  readonly postponed: Postponed;

  constructor(ms: number, postponed: Postponed) {
    super(`retry after ${Math.ceil(ms / 1_000)} s`);
    this.ms = ms;
    this.postponed = postponed;
  }
}

/** What a job returns, shown on the board: ids and counts, never content. */
export type JobResult = Record<string, string | number | boolean | null | undefined>;

/** A specification with its handler. BullMQ retries the job if the handler throws. */
export type Job<Payload, Deps> = {
  spec: JobSpec<Payload>;
  handler: (payload: Payload, context: JobContext<Deps>) => Promise<JobResult>;
};

// biome-ignore lint/suspicious/noExplicitAny: as AnySpec
export type AnyJob<Deps> = Job<any, Deps>;

export const defineJob = <Payload, Deps>(
  spec: JobSpec<Payload>,
  handler: Job<Payload, Deps>['handler'],
): Job<Payload, Deps> => ({ spec, handler });

/**
 * Checks the jobs of a worker.
 * @throws Error if two jobs share a name, or a specification has no handler
 */
export const defineJobs = <Deps>(
  specs: readonly AnySpec[],
  jobs: readonly AnyJob<Deps>[],
): readonly AnyJob<Deps>[] => {
  const names = jobs.map(({ spec }) => spec.name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Error(`two jobs are named ${duplicate}: see jobs/index.ts`);
  const unhandled = specs.find(({ name }) => !names.includes(name));
  if (unhandled !== undefined) throw new Error(`no handler for the job ${unhandled.name}: see jobs/index.ts`);
  return jobs;
};
