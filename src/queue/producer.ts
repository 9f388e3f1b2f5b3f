import { hash, randomUUID } from 'node:crypto';
import type { FlowJob, FlowProducer, Job, JobNode, JobsOptions, Queue } from 'bullmq';
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
  /** Adds a job, unless an equal one waits: then it returns that one. A job that has begun is never returned. */
  addOrJoin: <Payload>(job: JobSpec<Payload>, payload: Payload) => Promise<Job>;
  /** Adds both in one step; `parent` runs when `child` has completed or failed. */
  addAfter: <Parent, Child>(parent: Link<Parent>, child: Link<Child>) => Promise<void>;
  /**
   * Adds jobs that run one at a time, in this order, each when the one before has completed or failed. More than
   * `CHAIN_MAX` jobs form several chains, which run in parallel.
   */
  addInTurn: <Payload>(job: JobSpec<Payload>, payloads: readonly Payload[]) => Promise<Job[]>;
  queue: (job: { name: string }) => Queue;
  queues: () => Queue[];
  /** How a queue keeps its finished jobs: options of each job. */
  keep: KeepOptions;
  /** How BullMQ retries a job: options of each job that is not added here, such as those of a scheduler. */
  retry: (job: AnySpec) => Pick<JobsOptions, 'attempts' | 'backoff'>;
  /** Deletes finished jobs above the number that is kept. On Redis the queues do it themselves. */
  trim: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
};

/** States of a job that runs later. */
const WAITING_STATES: ReadonlySet<string> = new Set([
  'waiting',
  'delayed',
  'prioritized',
  'waiting-children',
]);

/** BullMQ walks a flow on the stack: 5,000 levels overflow it. */
const CHAIN_MAX = 1_000;

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

type Defaults = { keep: KeepOptions; maxBackoffMs: number };

const jobOptions = (
  job: AnySpec,
  { keep, maxBackoffMs }: Defaults,
  { attemptsMade = 0, ...placement }: Placement = {},
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
  const node = (job: AnySpec, payload: unknown, placement?: Placement): FlowJob => {
    const data = job.payload.parse(payload);
    return { name: job.title(data), queueName: job.name, data, opts: jobOptions(job, defaults, placement) };
  };
  /** Adds jobs that run in this order, each when the one before has ended, in one step. */
  const addChain = async (links: readonly FlowJob[]): Promise<Job[]> => {
    flows ??= backend.createFlowProducer().on('error', onError);
    const added: Job[] = [];
    let tree: JobNode | undefined = await flows.add(links.reduce(after));
    for (; tree !== undefined; tree = tree.children?.[0]) added.unshift(tree.job);
    return added;
  };
  const add: Producer['add'] = async (job, payload, placement) => {
    const data = job.payload.parse(payload);
    return queue(job).add(job.title(data), data, jobOptions(job, defaults, placement));
  };
  return {
    add,
    addOrJoin: async (job, payload) => {
      const content = hash('sha256', JSON.stringify(payload), 'base64url');
      const id = randomUUID();
      for (let turn = 1; ; turn += 1) {
        const added = await add(job, payload, { id, once: `${content}.${turn}` });
        if (added.id === id) return added;
        // A job that has begun, and waits for another attempt, may have read what has changed since: the request needs a
        // later one.
        const state = await added.getState();
        const { attemptsStarted = 1 } = (await queue(job).getJob(added.id ?? '')) ?? {};
        if (attemptsStarted === 0 && WAITING_STATES.has(state)) return added;
      }
    },
    addAfter: async (parent, child) =>
      void (await addChain([child, parent].map(({ job, payload, id }) => node(job, payload, { id })))),
    addInTurn: async (job, payloads) => {
      const links = payloads.map((payload) => node(job, payload));
      const added: Job[] = [];
      for (let from = 0; from < links.length; from += CHAIN_MAX)
        added.push(...(await addChain(links.slice(from, from + CHAIN_MAX))));
      return added;
    },
    queue,
    queues: () => [...queues.values()],
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
