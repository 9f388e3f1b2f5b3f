import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { Load, Runner } from '#src/queue/runner.ts';

/** A canary as often as this. */
export const CANARY_MS = 10_000;
/** Ready while one has passed within this time: two may be late. */
const READY_MS = 30_000;
/**
 * Looks in a row that show the same stuck queue, a canary's time apart, before the process is given up: a minute,
 * where an idle BullMQ worker asks for jobs every 5 s whatever it is told.
 */
const LOOKS = 6;
/** Servers that take longer to answer are away, and nothing is this process's fault. */
const ANSWER_MS = 5_000;

const canaryQueue = (worker_id: string): string => `canary-${worker_id}`;

/** A canary is no work: no trace is begun for it. */
const UNTRACED = { telemetry: undefined };

export type Liveness = {
  /** Has a canary passed through queue and database within the last 30 s? */
  isReady: () => boolean;
  stop: () => Promise<void>;
};

/** What of this process is stuck, though queue and database answer. */
export type Stuck = { queue: string; inHand: number };

type Options = {
  worker_id: string;
  backend: QueueBackend;
  producer: Producer;
  runner: Pick<Runner, 'loads'>;
  /** What a canary does on its way: writes to the database. */
  onCanary: () => Promise<void>;
  /** Does the database answer? */
  pingDatabase: () => Promise<unknown>;
  /** Called once. */
  onStuck: (stuck: Stuck) => void;
  logger: Logger;
  onError: (error: Error) => void;
  canaryMs?: number;
};

/**
 * Keep asking whether this process does its work (a worker may look alive and have stopped after a
 * reconnect). Two questions, because each alone can be fooled:
 *
 * - A canary job passes through a queue of this process alone and writes to the database. It tells whether the
 *   way there and back is open: readiness.
 * - Jobs wait in a queue, this process has room and takes none of them, look after look: that queue's worker
 *   has stopped. So has the canary's, when none passes though the servers answer.
 *
 * While a server is away nothing is held against the process, and looks are counted instead of time, so that a
 * process that was stopped itself is not found guilty when it wakes.
 */
export const startLiveness = (options: Options): Liveness => {
  const { worker_id, backend, producer, runner, onCanary, onStuck, onError, canaryMs = CANARY_MS } = options;
  const name = canaryQueue(worker_id);
  let passedAt = Number.NEGATIVE_INFINITY;
  let taken = 0;
  const canaries = backend.createQueue(name, UNTRACED).on('error', onError);
  const worker = backend.createWorker(
    name,
    async () => {
      taken += 1;
      await onCanary();
      passedAt = performance.now();
    },
    { concurrency: 1, ...UNTRACED },
  );
  worker.on('error', onError);

  const suspect = createSuspicion(name);
  const stopped = new AbortController();
  const look = async (): Promise<void> => {
    const answering = await within(ANSWER_MS, async () => {
      // One at a time: this id stands for the one that is under way. A queue that can't be written to
      // (out of memory, a replica) is as good as away.
      await canaries.add('canary', {}, { jobId: 'canary', removeOnComplete: true, removeOnFail: true });
      await options.pingDatabase();
      const waiting = await waitingJobs(producer, runner.loads());
      return { canaries: taken, waiting, loads: runner.loads() };
    });
    const stuck = suspect(answering);
    if (stuck === undefined || stopped.signal.aborted) return;
    stopped.abort();
    options.logger.fatal(stuck, 'jobs wait and this process takes none, though queue and database answer');
    onStuck(stuck);
  };
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look();
      await sleep(canaryMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const watching = watch();
  return {
    isReady: () => performance.now() - passedAt < READY_MS && !stopped.signal.aborted,
    stop: async () => {
      stopped.abort();
      await watching;
      await within(ANSWER_MS, async () => {
        await worker.close();
        await canaries.obliterate({ force: true });
        await canaries.close();
      });
    },
  };
};

/** Remove what the canaries of a worker that was killed left in the queue. */
export const removeCanaries = async (backend: QueueBackend, worker_id: string): Promise<void> => {
  const queue = backend.createQueue(canaryQueue(worker_id)).on('error', () => {});
  try {
    await queue.obliterate({ force: true });
  } finally {
    await queue.close();
  }
};

type Answering = { canaries: number; waiting: ReadonlyMap<string, number>; loads: readonly Load[] };

/** Counts, look by look, for how long a queue has shown the signs. `undefined` is a look at servers that are away. */
export const createSuspicion = (
  canary: string,
  looks = LOOKS,
): ((seen: Answering | undefined) => Stuck | undefined) => {
  let before: Answering | undefined;
  const counts = new Map<string, number>();
  const count = (queue: string, suspicious: boolean): boolean => {
    counts.set(queue, suspicious ? (counts.get(queue) ?? 0) + 1 : 0);
    return (counts.get(queue) ?? 0) >= looks;
  };
  return (seen) => {
    const last = before;
    before = seen;
    if (seen === undefined || last === undefined) {
      counts.clear();
      return undefined;
    }
    if (count(canary, seen.canaries === last.canaries)) return { queue: canary, inHand: 0 };
    for (const load of seen.loads) {
      const taken = last.loads.find(({ name }) => name === load.name)?.taken;
      const room = load.inHand < load.concurrency;
      const waits = (seen.waiting.get(load.name) ?? 0) > 0 && (last.waiting.get(load.name) ?? 0) > 0;
      if (count(load.name, waits && room && load.taken === taken)) {
        return { queue: load.name, inHand: load.inHand };
      }
    }
    return undefined;
  };
};

/** How many jobs wait in each queue for a worker with room; 0 where they are meant to wait. */
const waitingJobs = async (producer: Producer, loads: readonly Load[]): Promise<Map<string, number>> => {
  const counts = loads.map(async (load): Promise<[string, number]> => {
    const queue = producer.queue(load);
    const [{ waiting = 0 }, held] = await Promise.all([queue.getJobCounts('waiting'), isHeldBack(queue)]);
    return [load.name, held ? 0 : waiting];
  });
  return new Map(await Promise.all(counts));
};

/** Is the queue paused, or at a limit for the whole fleet? Bull Board sets both: another worker may have the slot. */
const isHeldBack = async (queue: Queue): Promise<boolean> => {
  const [paused, maxed, limitedMs] = await Promise.all([
    queue.isPaused(),
    queue.isMaxed(),
    queue.getRateLimitTtl(),
  ]);
  return paused || maxed || limitedMs > 0;
};

/** @returns undefined when it fails or takes longer */
const within = <Result>(milliseconds: number, work: () => Promise<Result>): Promise<Result | undefined> =>
  pTimeout(work(), { milliseconds, message: false }).catch(() => undefined);
