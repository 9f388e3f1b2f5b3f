import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import { listLiveWorkers } from '#db/queries/workers.ts';
import type { PulledGames } from '#src/actions/pull-games.ts';
import { formatCount } from '#src/cli/format.ts';
import type { Output } from '#src/cli/output.ts';
import type { DetailCounts } from '#src/contract/words.ts';
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
 * @param wait.continues a sentence: what continues without this command, and which command shows it
 * @throws CatalogueError after `timeoutMs`, after 15 s without a worker, or at Ctrl-C
 */
export const waitForResult = async <Result>(
  { sql, producer }: Foundation,
  out: Output,
  poll: () => Promise<Result | undefined>,
  { timeoutMs, continues }: { timeoutMs: number; continues: string },
): Promise<Result> => {
  const interruption = Promise.withResolvers<never>();
  let interrupted = false;
  const onSignal = () => {
    interrupted = true;
    interruption.reject(new CatalogueError(continues, { exitCode: EXIT.interrupted }));
  };
  const wait = async (): Promise<Result> => {
    const started = performance.now();
    let workerSeen = await warnWithoutWorker(sql, out);
    await warnOfPausedQueues(producer.queues(), out);
    for (;;) {
      const result = await poll();
      if (result !== undefined) return result;
      const waitedMs = performance.now() - started;
      if (waitedMs > timeoutMs) throw new CatalogueError(`No result in time. ${continues}`);
      workerSeen ||= await hasWorker(sql);
      if (!workerSeen && waitedMs > WORKER_START_MS) throw new CatalogueError(NO_WORKER);
      await sleep(POLL_MS);
      if (interrupted) return interruption.promise;
    }
  };
  process.once('SIGINT', onSignal);
  try {
    return await Promise.race([wait(), interruption.promise]);
  } finally {
    process.off('SIGINT', onSignal);
  }
};

/** Warns if a queue is paused: its jobs wait until it is resumed. */
export const warnOfPausedQueues = async (queues: readonly Queue[], out: Output): Promise<void> => {
  const paused = await Promise.all(queues.map(async (queue) => ((await queue.isPaused()) ? queue.name : [])));
  const names = paused.flat();
  if (names.length > 0)
    out.note(`Paused queues start no jobs: ${names.join(', ')}. Resume them: npx catalogue queue resume`);
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
 * @throws CatalogueError after 10 minutes, without a worker, or at Ctrl-C; the jobs stay in the queue
 */
export const waitForResults = (
  foundation: Foundation,
  out: Output,
  spec: AnySpec,
  jobs: readonly Job[],
): Promise<JobResult[]> => {
  const queue = foundation.producer.queue(spec);
  const results: JobResult[] = [];
  const poll = async (): Promise<JobResult[] | undefined> => {
    for (const { id } of jobs.slice(results.length)) {
      const result = await findResult(queue, id);
      if (result === undefined) return undefined;
      results.push(result);
    }
    return results;
  };
  const continues = 'The jobs stay in the queue: npx catalogue queue status';
  return waitForResult(foundation, out, poll, { timeoutMs: WAIT_TIMEOUT_MS, continues });
};

const describeResult = (result: JobResult): string[] =>
  result.error === undefined
    ? [
        Object.entries(result)
          .map(([key, value]) => `${key} ${value}`)
          .join(', '),
      ]
    : [`Failed: ${result.error}.`];

/**
 * Waits until the jobs end and prints their results.
 * @param describe a result in sentences
 * @returns the exit code
 */
export const waitForJobs = async (
  foundation: Foundation,
  out: Output,
  spec: AnySpec,
  jobs: readonly Job[],
  describe: (result: JobResult) => string[] = describeResult,
): Promise<ExitCode> => {
  const results = await waitForResults(foundation, out, spec, jobs);
  out.answer({ results }, ...results.flatMap(describe));
  if (results.some((result) => result.error !== undefined)) return EXIT.failed;
  return results.some((result) => Number(result.invalid ?? 0) > 0) ? EXIT.partial : EXIT.done;
};

/** `acme: 2 inserted, 1 unchanged.` and, if games are unknown or invalid, what that means. */
const describePull = (result: JobResult, application_id: string, only: string | undefined): string[] => {
  if (result.error !== undefined || result.skipped !== undefined) return describeResult(result);
  const { missing = 0, invalid = 0 } = result as Partial<DetailCounts>;
  const written = (['inserted', 'updated', 'unchanged'] as const)
    .filter((counter) => Number(result[counter] ?? 0) > 0)
    .map((counter) => `${result[counter]} ${counter}`);
  const lines = written.length > 0 ? [`${application_id}: ${written.join(', ')}.`] : [];
  if (invalid > 0)
    lines.push(`${formatCount(invalid, 'detail')} invalid: npx catalogue failure list ${application_id}`);
  if (missing > 0) lines.push(`${application_id} does not know ${only ?? formatCount(missing, 'game')}.`);
  return lines;
};

/** Waits for the jobs that pull games, if `wait`, and prints the result. @returns the exit code */
export const reportPull = async (
  foundation: Foundation,
  out: Output,
  { application_id, only }: { application_id: string; only?: string | undefined },
  { games, jobs }: PulledGames,
  wait: boolean,
): Promise<ExitCode> => {
  if (wait) {
    const { pullGameDetail } = await import('#src/ingest/specs.ts');
    return waitForJobs(foundation, out, pullGameDetail, jobs, (result) =>
      describePull(result, application_id, only),
    );
  }
  await warnWithoutWorker(foundation.sql, out);
  out.answer(
    { application_id, games, jobs: jobs.map((job) => job.id) },
    `Requested ${formatCount(games, 'game')} of ${application_id}.`,
  );
  return EXIT.done;
};
