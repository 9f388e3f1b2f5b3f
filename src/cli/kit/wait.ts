import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import { countLiveWorkers } from '#db/queries/workers.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import type { Output } from '#src/cli/kit/output.ts';
import type { DetailCounts } from '#src/contract/words.ts';
import { CatalogueError, EXIT, type ExitCode } from '#src/errors.ts';
import type { PulledGames } from '#src/operations/pull-games.ts';
import type { AnySpec, JobResult } from '#src/queue/job.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const POLL_MS = 200;
/** A worker that is starting records its first heartbeat within this time. */
const WORKER_START_MS = 15_000;

/** The limit of `--wait` without `--timeout`. */
export const WAIT_TIMEOUT_MS = 10 * 60_000;

const NO_WORKER =
  'No worker is running: start one with npx catalogue worker (or up). The work stays in the queue until then.';

const hasWorker = async (sql: Database): Promise<boolean> => (await countLiveWorkers(sql)) > 0;

/** Warns if no worker runs. @returns whether one runs */
export const warnWithoutWorker = async (sql: Database, out: Output): Promise<boolean> => {
  const found = await hasWorker(sql);
  if (!found) out.note(NO_WORKER);
  return found;
};

/**
 * Calls `poll` until it returns a result. Warns if no worker runs, or a queue is paused.
 * @param options.hint ends the message of an error: what continues without this command, and which command shows it
 * @throws CatalogueError after `timeoutMs`, after 15 s without a worker, or at Ctrl-C
 */
export const waitForResult = async <Result>(
  { sql, producer }: Foundation,
  out: Output,
  poll: () => Promise<Result | undefined>,
  { timeoutMs, hint }: { timeoutMs: number; hint: string },
): Promise<Result> => {
  const interruption = Promise.withResolvers<never>();
  let interrupted = false;
  const onSignal = () => {
    interrupted = true;
    interruption.reject(new CatalogueError(hint, { exitCode: EXIT.interrupted }));
  };
  const wait = async (): Promise<Result> => {
    const started = performance.now();
    let workerSeen = await warnWithoutWorker(sql, out);
    await warnOfPausedQueues(producer.queues(), out);
    for (;;) {
      const result = await poll();
      if (result !== undefined) return result;
      const waitedMs = performance.now() - started;
      if (waitedMs > timeoutMs) throw new CatalogueError(`No result in time. ${hint}`);
      workerSeen ||= await hasWorker(sql);
      if (!workerSeen && waitedMs > WORKER_START_MS) throw new CatalogueError(NO_WORKER);
      await sleep(POLL_MS);
      // The command ends: its connections are closed, so this loop must not poll again.
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
const warnOfPausedQueues = async (queues: readonly Queue[], out: Output): Promise<void> => {
  const isPaused = await Promise.all(queues.map((queue) => queue.isPaused()));
  const names = queues.filter((_, index) => isPaused[index]).map(({ name }) => name);
  if (names.length > 0)
    out.note(`Paused queues start no jobs: ${names.join(', ')}. Resume them: npx catalogue queue resume`);
};

/** @returns the result of a job; undefined until it ends */
const findResult = async (queue: Queue, id: string): Promise<JobResult | undefined> => {
  const state = await queue.getJobState(id);
  if (state !== 'completed' && state !== 'failed' && state !== 'unknown') return undefined;
  const job = await queue.getJob(id);
  if (job === undefined) return { error: 'the job is no longer in the queue' };
  if (state === 'completed') return job.returnvalue ?? {};
  return state === 'failed' ? { error: job.failedReason ?? 'failed' } : undefined;
};

/**
 * Waits until these jobs end.
 * @returns the result of each job in order; `{ error }` for one that failed
 * @throws CatalogueError after 10 minutes, without a worker, or at Ctrl-C; the jobs stay in the queue
 */
export const waitForResults = (
  foundation: Foundation,
  out: Output,
  spec: AnySpec,
  jobs: readonly string[],
): Promise<JobResult[]> => {
  const queue = foundation.producer.queue(spec);
  const results: JobResult[] = [];
  const poll = async (): Promise<JobResult[] | undefined> => {
    for (const id of jobs.slice(results.length)) {
      const result = await findResult(queue, id);
      if (result === undefined) return undefined;
      results.push(result);
    }
    return results;
  };
  const hint = 'The jobs stay in the queue: npx catalogue queue status';
  return waitForResult(foundation, out, poll, { timeoutMs: WAIT_TIMEOUT_MS, hint });
};

/** `inserted 2, unchanged 1` */
const describeResult = (result: JobResult): string[] => {
  if (result.error !== undefined) return [`Failed: ${result.error}.`];
  const values = Object.entries(result).map(([key, value]) => `${key} ${value}`);
  return [values.join(', ')];
};

/**
 * Waits until the jobs end and prints their results.
 * @param describe makes the lines for a result
 * @returns `failed` if a job failed, `partial` if details are invalid, else `done`
 */
export const waitForJobs = async (
  foundation: Foundation,
  out: Output,
  spec: AnySpec,
  jobs: readonly string[],
  describe: (result: JobResult) => string[] = describeResult,
): Promise<ExitCode> => {
  const results = await waitForResults(foundation, out, spec, jobs);
  out.answer({ results }, ...results.flatMap(describe));
  if (results.some((result) => result.error !== undefined)) return EXIT.failed;
  return results.some((result) => Number(result.invalid ?? 0) > 0) ? EXIT.partial : EXIT.done;
};

/** The games that a command pulls. `application_game_id` is given if it is a single one. */
type PullTarget = { application_id: string; application_game_id?: string | undefined };

/** `acme: 2 inserted, 1 unchanged.`, then a line each for invalid details and for games that are unknown. */
const describePull = (result: JobResult, { application_id, application_game_id }: PullTarget): string[] => {
  if (result.error !== undefined || result.skipped !== undefined) return describeResult(result);
  const counts = result as Partial<DetailCounts>;
  const { missing = 0, invalid = 0 } = counts;
  const written = (['inserted', 'updated', 'unchanged'] as const)
    .filter((counter) => (counts[counter] ?? 0) > 0)
    .map((counter) => `${counts[counter]} ${counter}`);
  const lines = written.length > 0 ? [`${application_id}: ${written.join(', ')}.`] : [];
  if (invalid > 0)
    lines.push(`${formatCount(invalid, 'detail')} invalid: npx catalogue failure list ${application_id}`);
  const unknown =
    application_game_id === undefined ? formatCount(missing, 'game') : `the game ${application_game_id}`;
  if (missing > 0) lines.push(`${application_id} does not know ${unknown}.`);
  return lines;
};

/** Prints what a pull requested or, with `--wait`, its result. @returns the exit code */
export const reportPull = async (
  foundation: Foundation,
  out: Output,
  target: PullTarget,
  { games, jobs }: PulledGames,
  wait: boolean,
): Promise<ExitCode> => {
  const { application_id } = target;
  if (wait) {
    const { pullGameDetail } = await import('#src/ingest/specs.ts');
    return waitForJobs(foundation, out, pullGameDetail, jobs, (result) => describePull(result, target));
  }
  await warnWithoutWorker(foundation.sql, out);
  out.answer(
    { application_id, games, jobs },
    `Requested ${formatCount(games, 'game')} of ${application_id}.`,
  );
  return EXIT.done;
};
