import type { Queue } from 'bullmq';
import type { Logger } from 'pino';
import { coerceError, safeMessage } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import type { Producer } from '#src/queue/producer.ts';
import { WAITING } from '#src/rules/waiting.ts';

/** Longest delay of any job but a tick. */
const DELAY_MAX_MS = WAITING.retryAfterMaxMs + 60_000;
/** Jobs that one look reads. */
const BATCH = 100;

/**
 * Finds jobs that a process delayed while its clock was ahead: they are due later than any delay explains. Each waits for
 * its own delay once more, from now on.
 * @param ticks the queue of ticks is left alone: a tick is due at its moment, by any clock
 * @param now by the clock of Postgres, in milliseconds since 1970
 * @param logger gets a line for a queue whose keys somebody gave another type: the others are read
 * @returns the number of jobs
 */
export const redateDelayedJobs = async (
  backend: Pick<QueueBackend, 'listDelayedAfter'>,
  producer: Pick<Producer, 'queues'>,
  ticks: { name: string },
  now: number,
  signal: AbortSignal,
  logger: Logger,
): Promise<number> => {
  let redated = 0;
  const redate = async (queue: Queue): Promise<void> => {
    // Those that stay, because a scheduler planned them or their job is gone, are not looked up again.
    for (let before = -1; before < redated && !signal.aborted; ) {
      before = redated;
      const ids = await backend.listDelayedAfter(queue.name, now + DELAY_MAX_MS, BATCH);
      for (const id of ids) {
        const job = await queue.getJob(id);
        if (job === undefined || job.repeatJobKey !== undefined) continue;
        await job.changeDelay(Math.min(job.delay, WAITING.retryAfterMaxMs));
        redated += 1;
      }
    }
  };
  for (const queue of producer.queues().filter(({ name }) => name !== ticks.name)) {
    try {
      await redate(queue);
    } catch (thrown) {
      const error = coerceError(thrown);
      if (error.name !== 'ReplyError') throw error;
      logger.warn(
        { queue: queue.name, error: safeMessage(error) },
        'the delayed jobs of a queue cannot be read',
      );
    }
  }
  return redated;
};
