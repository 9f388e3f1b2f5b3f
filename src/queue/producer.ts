import type { FlowJob, FlowProducer, Job, JobNode, JobsOptions, Queue } from 'bullmq';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { AnySpec, JobSpec } from '#src/queue/job.ts';

const DAY_S = 24 * 60 * 60;

/** Finished jobs are kept this long and this many a queue, for Bull Board; without it they stay forever. */
const KEEP_COMPLETED = { age: DAY_S, count: 1_000 };
const KEEP_FAILED = { age: 7 * DAY_S, count: 5_000 };

export type Placement = {
  /** At most one job of this id at a time. No ":" and not all digits (BullMQ). */
  id?: string;
  /** While a job added under this word is unfinished, adding another changes nothing. */
  once?: string;
  /** Not to be taken before so many milliseconds have passed. */
  delayMs?: number;
  /** Tries that were made of it without a job: they count, and so do the waits between them. */
  tried?: number;
};

/** Adds jobs. Payloads are parsed here as well as in the worker: a wrong one never reaches the queue. */
export type Producer = {
  add: <Payload>(job: JobSpec<Payload>, payload: Payload, placement?: Placement) => Promise<Job>;
  /** Add `parent`, to run when `child` has ended one way or the other, in one step. */
  addAfter: <Parent, Child>(
    parent: { job: JobSpec<Parent>; payload: Parent; id: string },
    child: { job: JobSpec<Child>; payload: Child; id: string },
  ) => Promise<void>;
  /**
   * Add jobs that run one at a time, in this order: each when the one before it has ended one way or the other. More
   * than a thousand make several such chains, side by side.
   */
  addInTurn: <Payload>(job: JobSpec<Payload>, payloads: readonly Payload[]) => Promise<Job[]>;
  queue: (job: { name: string }) => Queue;
  queues: () => Queue[];
  close: () => Promise<void>;
};

/** A flow is walked level by level, by BullMQ too, on the stack: 5,000 levels overflow it. */
const CHAIN_MAX = 1_000;

/** Wait before the try after so many. */
const backoffMs = (job: AnySpec, tried: number): number => job.options.backoffMs * 2 ** (tried - 1);

const jobOptions = (job: AnySpec, { tried = 0, ...placement }: Placement = {}): JobsOptions => ({
  attempts: job.options.attempts - tried,
  backoff: { type: 'exponential', delay: backoffMs(job, tried + 1), jitter: 0.5 },
  delay: placement.delayMs ?? (tried === 0 ? 0 : backoffMs(job, tried)),
  removeOnComplete: KEEP_COMPLETED,
  removeOnFail: KEEP_FAILED,
  // Our errors are written by us; the frames below them tell an operator nothing.
  stackTraceLimit: 1,
  ...(placement.id === undefined ? {} : { jobId: placement.id }),
  ...(placement.once === undefined ? {} : { deduplication: { id: placement.once } }),
});

/** Open one queue for each specification. */
export const createProducer = (
  backend: QueueBackend,
  jobs: readonly AnySpec[],
  onError: (error: Error) => void,
): Producer => {
  const open = (job: AnySpec): Queue => backend.createQueue(job.name).on('error', onError);
  const queues = new Map<string, Queue>(jobs.map((job) => [job.name, open(job)]));
  let flows: FlowProducer | undefined;
  const queue = (job: { name: string }): Queue => {
    const found = queues.get(job.name);
    if (found === undefined) throw new Error(`no queue for the job ${job.name}: is it listed in jobSpecs?`);
    return found;
  };
  const addFlow = (flow: FlowJob): Promise<JobNode> => {
    flows ??= backend.createFlowProducer().on('error', onError);
    return flows.add(flow);
  };
  const node = (job: AnySpec, payload: unknown, placement?: Placement): FlowJob => {
    const parsed = job.payload.parse(payload);
    return {
      name: job.title(parsed),
      queueName: job.name,
      data: parsed,
      opts: jobOptions(job, placement),
    };
  };
  /** The same node, to run when `first` has ended. */
  const after = (first: FlowJob, then: FlowJob): FlowJob => ({
    ...then,
    children: [{ ...first, opts: { ...first.opts, ignoreDependencyOnFailure: true } }],
  });
  const addChain = async (job: AnySpec, payloads: readonly unknown[]): Promise<Job[]> => {
    const [first, ...rest] = payloads.map((payload) => node(job, payload));
    if (first === undefined) return [];
    const added: Job[] = [];
    let tree: JobNode | undefined = await addFlow(rest.reduce(after, first));
    while (tree !== undefined) {
      added.push(tree.job);
      tree = tree.children?.[0];
    }
    return added.reverse();
  };
  return {
    add: async (job, payload, placement) => {
      const parsed = job.payload.parse(payload);
      return queue(job).add(job.title(parsed), parsed, jobOptions(job, placement));
    },
    addAfter: async (parent, child) => {
      const first = node(child.job, child.payload, { id: child.id });
      await addFlow(after(first, node(parent.job, parent.payload, { id: parent.id })));
    },
    addInTurn: async (job, payloads) => {
      const added: Job[] = [];
      for (let from = 0; from < payloads.length; from += CHAIN_MAX)
        added.push(...(await addChain(job, payloads.slice(from, from + CHAIN_MAX))));
      return added;
    },
    queue,
    queues: () => [...queues.values()],
    close: async () => {
      await Promise.all([...queues.values()].map((each) => each.close()));
      await flows?.close();
    },
  };
};
