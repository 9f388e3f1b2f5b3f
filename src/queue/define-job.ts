import type { Logger } from 'pino';
import type { z } from 'zod';
import type { JobDependencies } from '#src/queue/dependencies.ts';

/** How BullMQ treats the jobs of one queue. */
export type JobOptions = {
  /** Tries in all. BullMQ is the only retry layer. */
  attempts: number;
  /** First wait between tries; it doubles each time, with jitter. */
  backoffMs: number;
  /** Jobs of this queue that one worker process handles at once. */
  concurrency: number;
};

/** What a handler is given beside its payload. */
export type JobContext = {
  deps: JobDependencies;
  /** Aborted at shutdown's deadline and when the job's lock is lost: pass it on to everything that waits. */
  signal: AbortSignal;
  /** Is this the last try BullMQ will make? */
  lastAttempt: boolean;
  log: Logger;
  /** May it be put off by `ms` once more? Not when it would have waited for over an hour in all. */
  mayPostpone: (ms: number) => boolean;
  /** Put the job back to run again after `ms`, without spending a try. Never returns. */
  postpone: (ms: number) => Promise<never>;
};

/** A Retry-After of 0, or a moment gone by, must not become a loop without a pause. */
export const POSTPONE_MIN_MS = 1_000;

/** What a job leaves behind in Bull Board: ids and counts, never content. */
export type JobResult = Record<string, string | number | boolean | null | undefined>;

/** A job is one object: its name is its file, its queue and what Bull Board shows. */
export type JobDefinition<Payload = unknown> = {
  name: string;
  /** Ids only: Redis and Bull Board show payloads in clear. New fields start optional, for jobs in flight. */
  payload: z.ZodType<Payload>;
  options: JobOptions;
  /** The job's name in Bull Board, from ids alone: `acme page 3`. */
  title: (payload: Payload) => string;
  /** Returns counts and ids; throws to be tried again. */
  handler: (payload: Payload, context: JobContext) => Promise<JobResult>;
};

/** Define a job: the payload's type follows from its schema. */
export const defineJob = <Schema extends z.ZodType>(
  definition: JobDefinition<z.infer<Schema>> & { payload: Schema },
): JobDefinition<z.infer<Schema>> => definition;

/** A job whatever its payload, for lists of jobs. */
// biome-ignore lint/suspicious/noExplicitAny: a payload type is both taken and given, so no one type covers all jobs
export type AnyJob = JobDefinition<any>;
