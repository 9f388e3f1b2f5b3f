import type { JobSchedulerJson, Queue } from 'bullmq';
import { type QueuedState, readQueuedJobs } from '#src/ingest/queued-jobs.ts';
import type { AnySpec } from '#src/queue/job.ts';
import { readJob } from '#src/queue/large-jobs.ts';
import type { Producer } from '#src/queue/producer.ts';
import { parseSchedulerJobId, schedulerJobId } from '#src/queue/scheduled-jobs.ts';

/** A tick that is later than this is lost, unless its job is still in the queue. */
const LOST_AFTER_MS = 60_000;
/** No scheduler of ours has ticked so often. */
const COUNT_MAX = 1_000_000_000;

/** A queue during one pass. */
export type WatchedQueue = {
  queue: Queue;
  isTooLarge: Producer['isTooLarge'];
  /** The database's time at the start of the pass, in milliseconds since 1970. */
  now: number;
  /** Reads the unfinished jobs at the first call; later calls return the same. */
  readJobs: () => Promise<ReadonlyMap<string, QueuedState>>;
  /** The ids of the delayed ones among them, by scheduler. */
  readDelayed: () => Promise<ReadonlyMap<string, readonly string[]>>;
  signal: AbortSignal;
};

export const watchQueue = (
  { queue: queueOf, isTooLarge }: Producer,
  job: AnySpec,
  now: number,
  signal: AbortSignal,
): WatchedQueue => {
  const queue = queueOf(job);
  let jobs: ReturnType<WatchedQueue['readJobs']> | undefined;
  let delayed: ReturnType<WatchedQueue['readDelayed']> | undefined;
  const readJobs = () => {
    jobs ??= readQueuedJobs(queue, signal);
    return jobs;
  };
  const readDelayed = () => {
    delayed ??= readJobs().then(groupDelayed);
    return delayed;
  };
  return { queue, isTooLarge, now, readJobs, readDelayed, signal };
};

const groupDelayed = (jobs: ReadonlyMap<string, QueuedState>): ReadonlyMap<string, string[]> =>
  Map.groupBy(
    [...jobs].filter(([, state]) => state === 'delayed').map(([id]) => id),
    (id) => parseSchedulerJobId(id)?.scheduler_id ?? '',
  );

/**
 * Finds out why a scheduler would not tick in time. Each tick adds the next one.
 * - `late`: the next tick is in the past and has no job. It was deleted on the board, or a failover lost it.
 * - `ahead`: the next tick is more than two intervals away, because a worker whose clock is ahead ran ticks too early, or
 *   another program wrote a count of ticks to which BullMQ cannot add one. Ticks that were taken too early wait for their
 *   time (src/queue/scheduled-jobs.ts). While one waits that is due within two intervals, the schedule is in time.
 */
export const findScheduleFault = async (
  watched: WatchedQueue,
  { key, next = watched.now, every = 0, iterationCount = 0 }: JobSchedulerJson,
): Promise<'late' | 'ahead' | undefined> => {
  const { queue, now, readJobs, readDelayed, signal } = watched;
  const isInTime = (plannedAt = 0) => plannedAt >= now - LOST_AFTER_MS && plannedAt <= now + 2 * every;
  if (!(iterationCount < COUNT_MAX)) return 'ahead';
  if (isInTime(next)) return undefined;
  if (next > now) {
    const waiting = (await readDelayed()).get(key) ?? [];
    return waiting.some((id) => isInTime(parseSchedulerJobId(id)?.plannedAt)) ? undefined : 'ahead';
  }
  const job_id = schedulerJobId(key, next);
  const state = (await readJobs()).get(job_id);
  if (state === 'delayed') await promote(watched, job_id);
  if (state !== undefined) return undefined;
  // The scheduler may have ticked while the jobs were read. An aborted read misses jobs.
  return !signal.aborted && (await queue.getJobScheduler(key))?.next === next ? 'late' : undefined;
};

/** Makes a tick run that is due, because somebody may have delayed it for ever. It fails if a worker has taken the tick. */
const promote = async ({ queue, isTooLarge }: WatchedQueue, job_id: string): Promise<void> => {
  const job = await readJob({ isTooLarge }, queue, job_id);
  if (job !== 'unreadable') await job?.promote().catch(() => {});
};
