import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { explainThrown } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { Load, Runner } from '#src/queue/runner.ts';
import type { TrustedClock } from '#src/queue/trusted-clock.ts';

const CHECK_MS = 10_000;
/** Longer than two checks, so that a single failed check does not end readiness. */
const READY_MS = 30_000;
/** Checks in one minute. An idle BullMQ worker fetches jobs at least every 5 s. */
const STUCK_CHECKS = 6;
const CHECK_TIMEOUT_MS = 5_000;

export type Liveness = {
  /** Why the process is not ready. Undefined if database and queue have accepted writes within the last 30 s. */
  fault: () => string | undefined;
  stop: () => Promise<void>;
};

/** A queue whose worker in this process takes no jobs, and the jobs it still runs. */
export type Stuck = { queue: string; active: number };

type Options = {
  backend: Pick<QueueBackend, 'probe' | 'kind'>;
  producer: Pick<Producer, 'queue'>;
  runner: Pick<Runner, 'loads' | 'followClock'>;
  clock: TrustedClock;
  /** Writes to the database that this worker is alive. */
  recordHeartbeat: () => Promise<void>;
  /** Called once. */
  onStuck: (stuck: Stuck) => void;
  logger: Logger;
  checkMs?: number;
};

/**
 * Every 10 s: probes the queue, compares the clock with Postgres's, counts the jobs of each queue, records a heartbeat, and
 * checks that this process takes jobs. A process whose clock is wrong takes no jobs and records no heartbeat. A BullMQ
 * worker can stop fetching after a reconnect. It is stuck if, in six checks in a row, jobs wait, the process has room, and
 * it takes none. An unreachable server resets the count. Checks are counted instead of time, so that a process that was
 * suspended does not count as stuck.
 */
export const startLiveness = (options: Options): Liveness => {
  const { backend, producer, runner, clock, recordHeartbeat, onStuck, logger, checkMs = CHECK_MS } = options;
  let answeredAt = Number.NEGATIVE_INFINITY;
  const queueServer = backend.kind === 'redis' ? 'Redis' : 'Postgres';
  let failure = 'its first check has not ended';
  /** The server that the running check waits for. */
  let awaited = queueServer;
  const stopped = new AbortController();
  const findStuck = createStuckDetector();

  const readQueues = async (): Promise<QueueCheck[]> => {
    awaited = queueServer;
    await backend.probe();
    awaited = 'Postgres';
    await clock.read();
    awaited = queueServer;
    await runner.followClock();
    if (clock.fault() !== undefined) return [];
    const waiting = await Promise.all(runner.loads().map((load) => countWaiting(producer.queue(load))));
    awaited = 'Postgres';
    // Last, because the commands above fail if the worker's user of Redis has no right to a queue. Such a worker takes no
    // job, so it records no heartbeat. A check that a silent server delayed may come here after the stop.
    if (!stopped.signal.aborted) await recordHeartbeat();
    return runner.loads().map((load, index) => ({ ...load, waiting: waiting[index] ?? 0 }));
  };
  const check = async (): Promise<void> => {
    const fallback = (): undefined => {
      failure = `${awaited} did not answer within ${CHECK_TIMEOUT_MS / 1_000} s`;
    };
    const queues = await pTimeout(readQueues(), { milliseconds: CHECK_TIMEOUT_MS, fallback }).catch(
      (thrown: unknown) => {
        failure = explainThrown(thrown);
        return undefined;
      },
    );
    if (queues !== undefined) answeredAt = performance.now();
    const stuck = findStuck(queues);
    if (stuck === undefined || stopped.signal.aborted) return;
    stopped.abort();
    logger.fatal(stuck, 'jobs wait and this process takes none, though queue and database answer');
    onStuck(stuck);
  };
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await check();
      await sleep(checkMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const watching = watch();
  return {
    fault: () => {
      if (stopped.signal.aborted) return 'the process ends';
      return performance.now() - answeredAt < READY_MS ? clock.fault() : failure;
    },
    stop: () => {
      stopped.abort();
      return watching;
    },
  };
};

/** One check of a queue: its waiting jobs, and the jobs that this process has taken. */
type QueueCheck = Load & { waiting: number };

/**
 * @returns a function that receives each check (undefined: a server did not answer) and returns the queue that was stuck
 * in `checks` checks in a row
 */
export const createStuckDetector = (
  checks = STUCK_CHECKS,
): ((queues: readonly QueueCheck[] | undefined) => Stuck | undefined) => {
  let previous: readonly QueueCheck[] = [];
  const counts = new Map<string, number>();
  return (queues = []) => {
    for (const { name, waiting, active, concurrency, taken } of queues) {
      const before = previous.find((each) => each.name === name);
      const takesNone =
        before !== undefined &&
        before.waiting > 0 &&
        waiting > 0 &&
        active < concurrency &&
        taken === before.taken;
      counts.set(name, takesNone ? (counts.get(name) ?? 0) + 1 : 0);
    }
    previous = queues;
    const stuck = queues.find(({ name }) => (counts.get(name) ?? 0) >= checks);
    return stuck && { queue: stuck.name, active: stuck.active };
  };
};

/**
 * Counts the jobs that a worker with room would take: none while the queue is paused or at a limit of the whole fleet,
 * which Bull Board can set.
 */
const countWaiting = async (queue: Queue): Promise<number> => {
  const [{ waiting = 0 }, isPaused, isMaxed, rateLimitMs] = await Promise.all([
    queue.getJobCounts('waiting'),
    queue.isPaused(),
    queue.isMaxed(),
    queue.getRateLimitTtl(),
  ]);
  return isPaused || isMaxed || rateLimitMs > 0 ? 0 : waiting;
};
