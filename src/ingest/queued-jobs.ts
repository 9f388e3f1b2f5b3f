import type { Queue } from 'bullmq';

/** The state of a job that runs or will run. */
export type QueuedState = 'active' | 'delayed' | 'prioritized' | 'waiting';

/** Ids read at a time. */
const PAGE = 1_000;

/**
 * Jobs leave a state while it is read, so a state is read before the states to which its jobs move, and from the end
 * at which jobs arrive. `active` is read twice: its jobs come from one state and return to the others.
 */
const READ_ORDER: readonly QueuedState[] = ['active', 'delayed', 'prioritized', 'waiting', 'active'];

/**
 * Read the ids of a queue's unfinished jobs, without those that wait for their children. The cost grows with the
 * number of jobs. On Redis `getJobState` searches the whole wait list for each id: for a backlog the cost of a lookup
 * of each job grows with the square.
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
