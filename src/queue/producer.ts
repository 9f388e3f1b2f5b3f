import type { FlowJob, FlowProducer, Job, JobsOptions, Queue } from 'bullmq';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { AnySpec, JobSpec } from '#src/queue/job.ts';
import { deleteSurplus, type KeepOptions, keepOptions } from '#src/queue/retention.ts';

export type Placement = {
  /** A second job with this id is not added. BullMQ forbids ":" and ids of digits only. */
  id?: string;
  /** A second job with this key is not added until the first has ended. */
  once?: string;
  /** Delay before the job may run. */
  delayMs?: number;
  /** Attempts made outside the queue. They count against `attempts`, and their backoff delays the job. */
  attemptsMade?: number;
};

/** One job of a chain. */
type Link<Payload> = { job: JobSpec<Payload>; payload: Payload; id: string };

/** Adds jobs. Each method throws on an invalid payload. */
export type Producer = {
  add: <Payload>(job: JobSpec<Payload>, payload: Payload, placement?: Placement) => Promise<Job>;
  /** Adds both in one step; `parent` runs when `child` has completed or failed. */
  addAfter: <Parent, Child>(parent: Link<Parent>, child: Link<Child>) => Promise<void>;
  queue: (job: { name: string }) => Queue;
  queues: () => Queue[];
  /** How a queue keeps its finished jobs: options of each job. */
  keep: KeepOptions;
  /** Deletes finished jobs above the number that is kept. On Redis the queues do it themselves. */
  trim: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
};

/** Backoff after this many attempts. */
const backoffMs = (job: AnySpec, attemptsMade: number): number =>
  job.options.backoffMs * 2 ** (attemptsMade - 1);

/** How BullMQ retries the job. */
export const retryOptions = (job: AnySpec, attemptsMade = 0) => ({
  attempts: job.options.attempts - attemptsMade,
  backoff: { type: 'exponential', delay: backoffMs(job, attemptsMade + 1), jitter: 0.5 },
});

const jobOptions = (
  job: AnySpec,
  keep: KeepOptions,
  { attemptsMade = 0, ...placement }: Placement = {},
): JobsOptions => ({
  ...retryOptions(job, attemptsMade),
  delay: placement.delayMs ?? (attemptsMade === 0 ? 0 : backoffMs(job, attemptsMade)),
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

/** Opens one queue for each specification. */
export const createProducer = (
  backend: QueueBackend,
  jobs: readonly AnySpec[],
  onError: (error: Error) => void,
): Producer => {
  const queues = new Map<string, Queue>(
    jobs.map(({ name }) => [name, backend.createQueue(name).on('error', onError)]),
  );
  const keep = keepOptions(backend);
  let flows: FlowProducer | undefined;
  const queue = (job: { name: string }): Queue => {
    const found = queues.get(job.name);
    if (found === undefined) throw new Error(`no queue for the job ${job.name}: is it listed in jobSpecs?`);
    return found;
  };
  const node = <Payload>({ job, payload, id }: Link<Payload>): FlowJob => {
    const data = job.payload.parse(payload);
    return { name: job.title(data), queueName: job.name, data, opts: jobOptions(job, keep, { id }) };
  };
  const add: Producer['add'] = async (job, payload, placement) => {
    const data = job.payload.parse(payload);
    return queue(job).add(job.title(data), data, jobOptions(job, keep, placement));
  };
  return {
    add,
    addAfter: async (parent, child) => {
      flows ??= backend.createFlowProducer().on('error', onError);
      await flows.add(after(node(child), node(parent)));
    },
    queue,
    queues: () => [...queues.values()],
    keep,
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
