import type { Queue } from 'bullmq';

/** The state of a job that runs or will run. */
export type QueuedState = 'active' | 'delayed' | 'prioritized' | 'waiting';

/** Ids read at a time. */
const PAGE = 1_000;

/**
 * Jobs change their state during the read. To miss none, each state is read before the states to which its jobs move, and
 * each read starts at the end where jobs arrive. `active` is read first and last, because its jobs arrive from `waiting` or
 * `prioritized`, and return to the other states.
 */
const READ_ORDER: readonly QueuedState[] = ['active', 'delayed', 'prioritized', 'waiting', 'active'];

/**
 * Reads the ids of a queue's unfinished jobs, without those that wait for their children. The cost grows with the number of
 * jobs. `getJobState` is not used, because on Redis each call searches the whole wait list, so for a backlog the cost of
 * all calls grows with the square of that number.
 * @returns the state of each job by its id; incomplete when `signal` is aborted
 */
export const readQueuedJobs = async (
  queue: Queue,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, QueuedState>> => {
  const states = new Map<string, QueuedState>();
  for (const state of READ_ORDER) {
    for (let start = 0; !signal.aborted; start += PAGE) {
      const ids = await queue.getRanges([state], start, start + PAGE - 1);
      for (const id of ids) states.set(id, state);
      if (ids.length < PAGE) break;
    }
  }
  return states;
};
