import { randomUUID } from 'node:crypto';
import type { FlowJob, FlowProducer, Job, JobsOptions, Queue } from 'bullmq';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { AnySpec, JobSpec } from '#src/queue/job.ts';
import { isTooLarge } from '#src/queue/large-jobs.ts';
import { deleteSurplus, type KeepOptions, keepOptions } from '#src/queue/retention.ts';

export type Placement = {
  /** A second job with this id is not added. BullMQ forbids ":" and ids of digits only. */
  id?: string;
  /**
   * A second job with this key is not added until the first has ended. If somebody deleted the first from Redis, calls of
   * `add` notice it after ten seconds, and the job is added.
   */
  once?: string;
  /** Delay before the job may run. */
  delayMs?: number;
  /** Attempts made outside the queue. They count against `attempts`, and their backoff delays the job. */
  attemptsMade?: number;
};

/** One job of a chain. */
type Link<Payload> = { job: JobSpec<Payload>; payload: Payload; id: string };

/** Adds jobs. `add` and `addAfter` throw on an invalid payload. */
export type Producer = {
  add: <Payload>(job: JobSpec<Payload>, payload: Payload, placement?: Placement) => Promise<Job>;
  /** Adds both in one step; `parent` runs when `child` has completed or failed. */
  addAfter: <Parent, Child>(parent: Link<Parent>, child: Link<Child>) => Promise<void>;
  queue: (job: { name: string }) => Queue;
  queues: () => Queue[];
  /** `isTooLarge` of large-jobs.ts: call it before you read a job or a scheduler that others may have written. */
  isTooLarge: (queue: Queue, name: string, bytesMax?: number) => Promise<boolean>;
  /** How a queue keeps its finished jobs: options of each job. */
  keep: KeepOptions;
  /** How BullMQ retries a job: options of each job that is not added here, such as those of a scheduler. */
  retry: (job: AnySpec) => Pick<JobsOptions, 'attempts' | 'backoff'>;
  /** Deletes finished jobs above the number that is kept. On Redis the queues do it themselves. */
  trim: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
};

/** Delay between two reads of a job that others are merged into. */
const LOOK_UP_MS = 10_000;
/** Most keys whose look-up is remembered. Above it all are forgotten, because a key whose job is not added again would stay. */
const LOOKED_UP_MAX = 100_000;

/** Backoff after this many attempts. */
const backoffMs = (job: AnySpec, attemptsMade: number): number =>
  job.options.backoffMs * 2 ** (attemptsMade - 1);

const retryOptions = (job: AnySpec, maxBackoffMs: number, attemptsMade = 0) => ({
  attempts: job.options.attempts - attemptsMade,
  backoff: {
    type: 'exponential',
    delay: Math.min(backoffMs(job, attemptsMade + 1), maxBackoffMs),
    jitter: 0.5,
  },
});

/** Removes a key of `once` that somebody gave another type, or a value that Redis does not send. @returns whether it was one */
const removeForgedKey = async (backend: QueueBackend, queue: Queue, once: string): Promise<boolean> => {
  const isForged =
    (await isTooLarge(backend, queue, `de:${once}`)) ||
    (await queue.getDeduplicationJobId(once).then(
      () => false,
      (error: Error) => error.message.startsWith('WRONGTYPE'),
    ));
  return isForged && (await queue.removeDeduplicationKey(once)) > 0;
};

type Defaults = { keep: KeepOptions; maxBackoffMs: number };

const jobOptions = (
  job: AnySpec,
  { keep, maxBackoffMs }: Defaults,
  { attemptsMade = 0, ...placement }: Placement,
): JobsOptions => ({
  ...retryOptions(job, maxBackoffMs, attemptsMade),
  delay: placement.delayMs ?? (attemptsMade === 0 ? 0 : Math.min(backoffMs(job, attemptsMade), maxBackoffMs)),
  ...keep,
  // Stack frames of our own messages do not help an operator.
  stackTraceLimit: 1,
  ...(placement.id === undefined ? {} : { jobId: placement.id }),
  ...(placement.once === undefined ? {} : { deduplication: { id: placement.once } }),
});

/** Makes `then` run when `first` has ended. */
const after = (first: FlowJob, then: FlowJob): FlowJob => ({
  ...then,
  children: [{ ...first, opts: { ...first.opts, ignoreDependencyOnFailure: true } }],
});

/**
 * Opens one queue for each specification.
 * @param options.maxBackoffMs limits the delay before a second attempt: tests of failures set it
 */
export const createProducer = (
  backend: QueueBackend,
  jobs: readonly AnySpec[],
  onError: (error: Error) => void,
  { maxBackoffMs = Number.POSITIVE_INFINITY } = {},
): Producer => {
  const queues = new Map<string, Queue>(
    jobs.map(({ name }) => [name, backend.createQueue(name).on('error', onError)]),
  );
  const keep = keepOptions(backend);
  const defaults = { keep, maxBackoffMs };
  let flows: FlowProducer | undefined;
  const queue = (job: { name: string }): Queue => {
    const found = queues.get(job.name);
    if (found === undefined) throw new Error(`no queue for the job ${job.name}: is it listed in jobSpecs?`);
    return found;
  };
  const node = <Payload>({ job, payload, id }: Link<Payload>): FlowJob => {
    const data = job.payload.parse(payload);
    return { name: job.title(data), queueName: job.name, data, opts: jobOptions(job, defaults, { id }) };
  };
  /** When the job of each key was looked up last, in milliseconds of the monotonic clock. */
  const lookedUpAt = new Map<string, number>();
  /**
   * Removes the key of a job that is gone, although another job was merged into it. Looks the job up at most every 10 s,
   * because Redis searches its lists for it. Keys have no expiry, because BullMQ would keep such a key until it expires.
   * @returns whether the key was removed
   */
  const freeLostKey = async (merged: Job, key: string): Promise<boolean> => {
    if (lookedUpAt.size > LOOKED_UP_MAX) lookedUpAt.clear();
    const last = lookedUpAt.get(key) ?? performance.now();
    lookedUpAt.set(key, last);
    if (performance.now() - last < LOOK_UP_MS) return false;
    lookedUpAt.set(key, performance.now());
    // A job whose hash was deleted runs without its key, so the key stays when the job has ended. No job of ours has a key
    // and waits for children.
    const state = await merged.getState();
    const isLost = ['unknown', 'completed', 'failed', 'waiting-children'].includes(state);
    return isLost && merged.removeDeduplicationKey();
  };
  const add: Producer['add'] = async (job, payload, placement = {}) => {
    const data = job.payload.parse(payload);
    const insert = (id: string | undefined) =>
      queue(job).add(job.title(data), data, jobOptions(job, defaults, { ...placement, id }));
    const { once } = placement;
    if (once === undefined) return insert(placement.id);
    const key = `${job.name} ${once}`;
    const id = placement.id ?? randomUUID();
    const added = await insert(id).catch(async (error: unknown) => {
      if (!(await removeForgedKey(backend, queue(job), once))) throw error;
      return insert(id);
    });
    if (added.id !== id) return (await freeLostKey(added, key)) ? insert(id) : added;
    lookedUpAt.delete(key);
    return added;
  };
  return {
    add,
    addAfter: async (parent, child) => {
      flows ??= backend.createFlowProducer().on('error', onError);
      await flows.add(after(node(child), node(parent)));
    },
    queue,
    queues: () => [...queues.values()],
    isTooLarge: (...key) => isTooLarge(backend, ...key),
    keep,
    retry: (job) => retryOptions(job, maxBackoffMs),
    trim: async (signal) => {
      if (backend.kind === 'redis') return;
      for (const each of queues.values()) await deleteSurplus(each, signal);
    },
    close: async () => {
      await Promise.all([...queues.values()].map((each) => each.close()));
      await flows?.close();
    },
  };
};
