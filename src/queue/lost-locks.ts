import type { Worker } from 'bullmq';
import type { Logger } from 'pino';

/** BullMQ reports a lock that it could not renew twice: by an event of its own, and by this error. */
const NOT_RENEWED = /^could not renew lock for job /;

/** Cancels a job whose lock this worker has lost, because another worker runs it, and logs it. */
export const cancelLostJobs = (worker: Worker, logger: Logger): void => {
  worker.on('lockRenewalFailed', (ids) => {
    for (const job_id of ids) {
      logger.warn({ job: worker.name, job_id }, 'the job lost its lock: another worker runs it');
      worker.cancelJob(job_id, 'lock lost');
    }
  });
};

/**
 * Whether an error of a worker is about one job that it has lost, and not about the queue. BullMQ refuses changes of such
 * a job, whose lock or key is gone, with negative codes.
 */
export const isOfLostJob = (error: Error): boolean => {
  const { code } = error as { code?: unknown };
  return NOT_RENEWED.test(error.message) || (typeof code === 'number' && code < 0);
};
