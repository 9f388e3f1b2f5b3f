import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import { listLiveWorkers } from '#db/queries/workers.ts';
import { formatCount } from '#src/cli/format.ts';
import type { Output } from '#src/cli/output.ts';
import { CatalogueError, EXIT, type ExitCode } from '#src/errors.ts';
import type { AnySpec, JobResult } from '#src/queue/job.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const POLL_MS = 200;
/** A worker that has just started appears within this time. */
const WORKER_START_MS = 15_000;

/** The limit of `--wait` without `--timeout`. */
export const WAIT_TIMEOUT_MS = 10 * 60_000;

const NO_WORKER =
  'No worker is running: start one with npx catalogue worker (or up). The work stays in the queue until then.';

const hasWorker = async (sql: Database): Promise<boolean> => (await listLiveWorkers(sql)).length > 0;

/** Warns if no worker runs. @returns whether one runs */
export const warnWithoutWorker = async (sql: Database, out: Output): Promise<boolean> => {
  const found = await hasWorker(sql);
  if (!found) out.note(NO_WORKER);
  return found;
};

/**
 * Calls `poll` until it returns a result.
 * @throws CatalogueError after `timeoutMs`, or after 15 s without a worker
 */
export const waitForResult = async <Result>(
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
    if (!workerSeen && waitedMs > WORKER_START_MS) throw new CatalogueError(NO_WORKER);
    await sleep(POLL_MS);
  }
};

/** @returns undefined while the job is open */
const findResult = async (queue: Queue, id: string | undefined): Promise<JobResult | undefined> => {
  const job = id === undefined ? undefined : await queue.getJob(id);
  if (job === undefined) return { error: 'the job is no longer in the queue' };
  const state = await job.getState();
  if (state !== 'completed' && state !== 'failed') return undefined;
  // The job may have ended after it was read: it is read again.
  const ended = await queue.getJob(job.id ?? '');
  return state === 'completed' ? (ended?.returnvalue ?? {}) : { error: ended?.failedReason ?? 'failed' };
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
  const timeoutMessage =
    'The jobs did not finish in time. They stay in the queue: npx catalogue queue status';
  return waitForResult(sql, out, poll, { timeoutMs: WAIT_TIMEOUT_MS, timeoutMessage });
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

/**
 * Adds jobs that pull these games, 100 a job. The jobs run one after another, because each limits only the rate of its
 * own calls (design, section 4, step 4).
 * @returns the exit code
 */
export const pullGames = async (
  foundation: Foundation,
  out: Output,
  application_id: string,
  application_game_ids: readonly string[],
  wait: boolean,
): Promise<ExitCode> => {
  const { PULL_MAX, pullGameDetail } = await import('#src/ingest/specs.ts');
  const ids = [...new Set(application_game_ids)];
  const payloads = [];
  for (let start = 0; start < ids.length; start += PULL_MAX)
    payloads.push({ application_id, application_game_ids: ids.slice(start, start + PULL_MAX) });
  const jobs = await foundation.producer.addInTurn(pullGameDetail, payloads);
  if (wait) return waitForJobs(foundation, out, pullGameDetail, jobs);
  await warnWithoutWorker(foundation.sql, out);
  out.answer(
    { application_id, games: ids.length, jobs: jobs.map((job) => job.id) },
    `Requested ${formatCount(ids.length, 'game')} of ${application_id}.`,
  );
  return EXIT.done;
};
