import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import { findRuns, type RunRow, sumPages } from '#db/queries/runs.ts';
import { listLiveWorkers } from '#db/queries/workers.ts';
import { formatCount } from '#src/cli/format.ts';
import type { Output } from '#src/cli/output.ts';
import { openProgress } from '#src/cli/progress.ts';
import { CatalogueError, EXIT, type ExitCode } from '#src/errors.ts';
import type { AnySpec, JobResult } from '#src/queue/job.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const POLL_MS = 200;
/** How long a worker that was just started takes at most to appear. */
const WORKER_START_MS = 15_000;

/** How long `--wait` waits, unless `--timeout` says otherwise. */
export const WAIT_TIMEOUT_MS = 10 * 60_000;

const NO_WORKER = 'No worker is running: start one with npx catalogue worker (or up).';

const hasWorker = async (sql: Database): Promise<boolean> => (await listLiveWorkers(sql)).length > 0;

/** @returns whether a worker runs */
export const warnWithoutWorker = async (sql: Database, out: Output): Promise<boolean> => {
  const found = await hasWorker(sql);
  if (!found) out.note(`${NO_WORKER} The work stays in the queue until then.`);
  return found;
};

/**
 * Calls `poll` until it returns a result.
 * @throws CatalogueError after `timeoutMs`, or after 15 s without a worker
 */
const waitForResult = async <Result>(
  sql: Database,
  out: Output,
  poll: () => Promise<Result | undefined>,
  { timeoutMs, timeoutMessage }: { timeoutMs: number; timeoutMessage: string },
): Promise<Result> => {
  const started = performance.now();
  let workerSeen = await warnWithoutWorker(sql, out);
  for (;;) {
    const result = await poll();
    if (result !== undefined) return result;
    const waitedMs = performance.now() - started;
    if (waitedMs > timeoutMs) throw new CatalogueError(timeoutMessage);
    workerSeen ||= await hasWorker(sql);
    if (!workerSeen && waitedMs > WORKER_START_MS)
      throw new CatalogueError(`${NO_WORKER} The work stays in the queue until then.`);
    await sleep(POLL_MS);
  }
};

/**
 * Waits until the runs end, with a progress bar for each.
 * @returns the ended runs
 * @throws CatalogueError after `timeoutMs`, or without a worker; the runs continue
 */
export const waitForRuns = async (
  sql: Database,
  out: Output,
  runs: readonly RunRow[],
  timeoutMs: number,
): Promise<RunRow[]> => {
  if (runs.length === 0) return [];
  const applicationIds = runs.map((run) => run.application_id);
  const runIds = runs.map((run) => run.run_id);
  const progress = await openProgress(out, applicationIds, 'games');
  const poll = async (): Promise<RunRow[] | undefined> => {
    const current = await findRuns(sql, runIds);
    if (progress !== undefined) {
      for (const run of current) {
        const { listed, written, total } = await sumPages(sql, run.run_id);
        progress.update(
          run.application_id,
          written,
          run.finished_at === null ? Math.max(total, listed) : listed,
        );
      }
    }
    return current.every((run) => run.finished_at !== null) ? current : undefined;
  };
  try {
    return await waitForResult(sql, out, poll, {
      timeoutMs,
      timeoutMessage: 'The runs did not finish in time. They continue: npx catalogue run list',
    });
  } finally {
    progress?.stop();
  }
};

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
  const missing = results.reduce((sum, result) => sum + Number(result.missing ?? 0), 0);
  if (missing > 0) out.line(`The application does not know ${formatCount(missing, 'game')}.`);
  if (results.some((result) => result.error !== undefined)) return EXIT.failed;
  return results.some((result) => Number(result.invalid ?? 0) > 0) ? EXIT.partial : EXIT.done;
};
