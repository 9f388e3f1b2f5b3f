import type { Queue } from 'bullmq';
import type { Logger } from 'pino';
import { coerceError, safeMessage } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import { readJob } from '#src/queue/large-jobs.ts';
import type { Producer } from '#src/queue/producer.ts';
import { WAITING } from '#src/rules/waiting.ts';

/** Longest delay of any job but a tick. */
const DELAY_MAX_MS = WAITING.retryAfterMaxMs + 60_000;
/** Jobs that one look reads. */
const BATCH = 100;

/**
 * Delays jobs again that a process delayed while its clock was ahead. They are known by a time that is later than any delay
 * explains. Each waits for its own delay once more, from now on.
 * @param ticks the queue of ticks is left alone, because a tick is due at its moment, by any clock
 * @param now by the clock of Postgres, in milliseconds since 1970
 * @param logger gets a line for a queue that cannot be read, because somebody wrote its keys; the others are read
 * @returns the number of jobs
 */
export const redateDelayedJobs = async (
  backend: Pick<QueueBackend, 'listDelayedAfter'>,
  producer: Pick<Producer, 'queues' | 'isTooLarge'>,
  ticks: { name: string },
  now: number,
  signal: AbortSignal,
  logger: Logger,
): Promise<number> => {
  let redated = 0;
  const redate = async (queue: Queue): Promise<void> => {
    /** Those that a scheduler planned, that are gone, or that cannot be read. */
    let stay = 0;
    for (let found = BATCH; found === BATCH && !signal.aborted; ) {
      const ids = await backend.listDelayedAfter(queue.name, now + DELAY_MAX_MS, stay, BATCH);
      found = ids.length;
      for (const id of ids) {
        const job = await readJob(producer, queue, id);
        if (job === undefined || job === 'unreadable' || job.repeatJobKey !== undefined) stay += 1;
        else {
          await job.changeDelay(Math.max(0, Math.min(job.delay || 0, WAITING.retryAfterMaxMs)));
          redated += 1;
        }
      }
    }
  };
  for (const queue of producer.queues().filter(({ name }) => name !== ticks.name)) {
    if (signal.aborted) break;
    try {
      await redate(queue);
    } catch (thrown) {
      logger.warn(
        { queue: queue.name, error: safeMessage(coerceError(thrown)) },
        'the delayed jobs of a queue cannot be read',
      );
    }
  }
  return redated;
};
