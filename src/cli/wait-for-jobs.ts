import type { Job, Queue } from 'bullmq';
import type { Output } from '#src/cli/output.ts';
import { WAIT_TIMEOUT_MS, waitForResult } from '#src/cli/wait.ts';
import { EXIT, type ExitCode } from '#src/errors.ts';
import type { AnySpec, JobResult } from '#src/queue/job.ts';
import type { Foundation } from '#src/roles/foundation.ts';

/**
 * Waits until the jobs end.
 * @returns the result of each job in order; `{ error }` for one that failed
 * @throws CatalogueError after 10 minutes, or without a worker; the jobs stay in the queue
 */
export const waitForResults = (
  { sql, producer }: Foundation,
  out: Output,
  spec: AnySpec,
  jobs: readonly Job[],
): Promise<JobResult[]> => {
  const queue = producer.queue(spec);
  const results: JobResult[] = [];
  const poll = async (): Promise<JobResult[] | undefined> => {
    for (const { id } of jobs.slice(results.length)) {
      const result = await findResult(queue, id);
      if (result === undefined) return undefined;
      results.push(result);
    }
    return results;
  };
  return waitForResult(sql, out, poll, {
    timeoutMs: WAIT_TIMEOUT_MS,
    timeoutMessage: 'The jobs did not finish in time. They stay in the queue: npx catalogue queue status',
  });
};

/** @returns undefined while the job is open */
const findResult = async (queue: Queue, id: string | undefined): Promise<JobResult | undefined> => {
  const job = id === undefined ? undefined : await queue.getJob(id);
  if (job === undefined) return { error: 'the job is no longer in the queue' };
  // The job is read again: its result may be newer than the first read.
  if (await job.isCompleted()) return (await queue.getJob(job.id ?? ''))?.returnvalue ?? {};
  if (await job.isFailed()) return { error: (await queue.getJob(job.id ?? ''))?.failedReason ?? 'failed' };
  return undefined;
};

/** Waits until the jobs end and prints their results. @returns the exit code */
export const waitForJobs = async (
  foundation: Foundation,
  out: Output,
  spec: AnySpec,
  jobs: readonly Job[],
): Promise<ExitCode> => {
  const results = await waitForResults(foundation, out, spec, jobs);
  const lines = results.map((result) =>
    Object.entries(result)
      .map(([key, value]) => `${key} ${value}`)
      .join(', '),
  );
  out.answer({ results }, ...lines);
  if (results.some((result) => result.error !== undefined)) return EXIT.failed;
  return results.some((result) => Number(result.invalid ?? 0) > 0) ? EXIT.partial : EXIT.done;
};
