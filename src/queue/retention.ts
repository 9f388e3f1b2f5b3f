import type { JobsOptions, Queue } from 'bullmq';
import type { QueueBackend } from '#src/queue/backend.ts';

const DAY_S = 24 * 60 * 60;

/** Finished jobs that each queue keeps for the board: age in seconds, and number. BullMQ keeps all by default. */
const KEPT = {
  completed: { age: DAY_S, count: 1_000 },
  failed: { age: 7 * DAY_S, count: 5_000 },
};
const STATES = ['completed', 'failed'] as const;

/** Jobs that one statement deletes. */
const BATCH = 5_000;

export type KeepOptions = Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'>;

/**
 * Returns how a queue keeps its finished jobs. On PostgreSQL it keeps them by age alone, because with a number BullMQ reads
 * every kept job whenever a job ends, which takes two thirds of Postgres's time in a backlog. `deleteSurplus` bounds their
 * number there.
 */
export const keepOptions = ({ kind }: Pick<QueueBackend, 'kind'>): KeepOptions => {
  const { completed, failed } = KEPT;
  return kind === 'redis'
    ? { removeOnComplete: completed, removeOnFail: failed }
    : { removeOnComplete: { age: completed.age }, removeOnFail: { age: failed.age } };
};

/** Deletes the oldest finished jobs of a queue above the number that it keeps. */
export const deleteSurplus = async (queue: Queue, signal: AbortSignal): Promise<void> => {
  for (const state of STATES) {
    const { count } = KEPT[state];
    const [newest] = await queue.getJobs([state], count, count);
    if (newest?.finishedOn === undefined) continue;
    for (let deleted = BATCH; deleted === BATCH && !signal.aborted; )
      deleted = (await queue.clean(Date.now() - newest.finishedOn, BATCH, state)).length;
  }
};
