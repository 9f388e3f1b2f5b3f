import type { Job, JobJson, Queue, Worker } from 'bullmq';
import { isUnreadableJob } from '#src/errors.ts';
import type { QueueBackend } from '#src/queue/backend.ts';
import { JOB_BYTES_MAX } from '#src/queue/job.ts';

/** Characters of a job, as JSON. Our largest has 50,000. */
const JOB_MAX = 100_000;

/** The reason of a failed job that is larger than any of ours, or no JSON, because another program wrote it. */
export const LARGE_JOB =
  'a job was larger than any of ours, or could not be read, and was deleted: see who else writes to the queues (docs/security.md)';

/** @returns the characters of a value as JSON; infinity if it is nested too deeply */
export const jsonLength = (value: unknown): number => {
  try {
    return JSON.stringify(value).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

type Reader = { createJob: (data: JobJson, job_id: string) => Job };

/**
 * Makes a worker fail and delete each job that is larger than any of ours, or cannot be read. It does so before the data
 * are parsed, because the up to 8 MB that Redis sends would take 90 MB for as long as the job runs.
 *
 * A job that has stalled runs without its scheduler: BullMQ fetches a job again and again if it cannot add the next one, as
 * with options that somebody wrote. The reconciler then adds the next one.
 */
export const refuseLargeJobs = (worker: Worker): void => {
  const reader = worker as unknown as Reader;
  const createJob = reader.createJob.bind(worker);
  reader.createJob = (data, job_id) => {
    try {
      if (jsonLength(data) <= JOB_MAX) {
        const job = createJob(data, job_id);
        return job.stalledCounter > 0 ? Object.assign(job, { repeatJobKey: undefined }) : job;
      }
    } catch (error) {
      if (!isUnreadableJob(error)) throw error;
    }
    return createJob({ ...EMPTY_JOB, id: job_id } as JobJson, job_id);
  };
};

const EMPTY_JOB: Partial<JobJson> = {
  name: 'a job larger than any of ours',
  data: 'null',
  opts: { removeOnFail: true },
  progress: 0,
  attemptsMade: 0,
  timestamp: 0,
  deferredFailure: LARGE_JOB,
};

/** Can BullMQ read these parts of a job in Redis? It fetches a job again and again if it cannot read one before it starts. */
const isReadable = ([opts, parent, progress, started]: (string | null)[]): boolean => {
  try {
    const isNull = JSON.parse(opts || '{}') === null;
    const { id } = JSON.parse(parent ?? '{"id":""}');
    JSON.parse(progress || '0');
    return !isNull && typeof id === 'string' && /^\d{1,9}$/.test(started ?? '0');
  } catch {
    return false;
  }
};

/** Has a key of a queue more bytes than any of ours? Redis ends the connection that reads one of more than 8 MB. */
export const isTooLarge = async (
  { redis }: Pick<QueueBackend, 'redis'>,
  { toKey }: Pick<Queue, 'toKey'>,
  name: string,
  bytesMax = JOB_BYTES_MAX,
): Promise<boolean> => ((await redis?.memory('USAGE', toKey(name), 'SAMPLES', 0)) ?? 0) > bytesMax;

/** Reads a job of a queue. @returns 'unreadable' if it is too large, or no job of BullMQ, because another program wrote it */
export const readJob = async (
  { isTooLarge }: { isTooLarge: (queue: Queue, name: string) => Promise<boolean> },
  queue: Queue,
  job_id: string,
): Promise<Job | 'unreadable' | undefined> => {
  if (await isTooLarge(queue, job_id)) return 'unreadable';
  return queue.getJob(job_id).catch((error: unknown) => {
    if (!isUnreadableJob(error)) throw error;
    return 'unreadable' as const;
  });
};

/**
 * Empties a stalled job that is larger than any of ours, or that BullMQ cannot read, so that its next attempt fails,
 * because it has no payload.
 * @returns whether it was emptied; false on PostgreSQL, which stores no such job
 */
export const emptyForgedJob = async (
  { redis }: Pick<QueueBackend, 'redis'>,
  worker: Worker,
  job_id: string,
): Promise<boolean> => {
  if (redis === undefined) return false;
  const key = worker.toKey(job_id);
  const read = () => redis.hmget(key, 'opts', 'parent', 'progress', 'ats');
  if (!(await isTooLarge({ redis }, worker, job_id)) && isReadable(await read())) return false;
  await redis.del(key);
  return true;
};
