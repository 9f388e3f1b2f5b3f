import type { Queue } from 'bullmq';
import { type Database, readClock } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { listIdleRuns, type RunRow, raiseFence } from '#db/queries/runs.ts';
import { abandonRun } from '#src/ingest/finish-run.ts';
import { type QueuedState, readQueuedJobs } from '#src/ingest/queued-jobs.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import { enqueueNextStep, hasOpenGames, PAGES_A_JOB, startRun, stepId } from '#src/ingest/steps.ts';
import type { AnySpec } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';
import { WAITING } from '#src/rules/waiting.ts';

/** A run that made progress within this time is left alone, because its next job is about to be added. */
const IDLE_MS = 20_000;

const BATCH = 500;
/** Runs recovered at once. Few, because they share the worker's connections with its jobs. */
const CONCURRENCY = 8;

/** Clocks of workers may differ by this much. */
const CLOCK_SKEW_MS = 60_000;

/** The unfinished jobs of one queue. */
type Jobs = { queue: Queue; states: ReadonlyMap<string, QueuedState> };
type StepJobs = { list: Jobs; detail: Jobs };

/**
 * Returns when a worker started the job, in milliseconds; `now` while the job waits in a backlog or a paused queue;
 * undefined if the job is not in the queue.
 */
const jobActiveSince = async (jobs: Jobs, id: string, now: number): Promise<number | undefined> => {
  const state = jobs.states.get(id);
  if (state === undefined) return undefined;
  if (state === 'waiting' || state === 'prioritized') return now;
  const { timestamp = 0, processedOn = timestamp, delay = 0 } = (await jobs.queue.getJob(id)) ?? {};
  const isAhead = processedOn >= now + CLOCK_SKEW_MS;
  if (state === 'active') return isAhead ? 0 : processedOn;
  // A job that a wrong clock has delayed for hours is dated again (src/queue/misdated-jobs.ts).
  return processedOn + delay <= now || isAhead ? now : processedOn;
};

/** The same for a run. All its possible jobs are checked, because a failover may lose one of two. */
const runActiveSince = async (
  { list, detail }: StepJobs,
  run: RunRow,
  now: number,
): Promise<number | undefined> => {
  for (let page_num = Math.max(1, run.next_page - PAGES_A_JOB); page_num < run.next_page; page_num += 1) {
    const since = await jobActiveSince(list, stepId(run, page_num), now);
    if (since !== undefined) return since;
  }
  return (
    (await jobActiveSince(detail, stepId(run, run.next_page - 1), now)) ??
    (await jobActiveSince(list, stepId(run, run.next_page), now))
  );
};

export type Recovered = { recovered: number; abandoned: number };

/**
 * Recovers open runs without progress. A run whose job is lost (a flush, a failover that lost writes, a worker that was
 * killed too often) resumes at its next page under a new fence. A run without progress for `abandonMs` is closed as
 * abandoned, and a new one opened. A run whose job waits in a backlog is left alone.
 */
export const recoverRuns = async (
  sql: Database,
  producer: Producer,
  signal: AbortSignal,
  {
    idleMs = IDLE_MS,
    abandonMs = WAITING.abandonRunMs,
  }: { idleMs?: number | undefined; abandonMs?: number } = {},
): Promise<Recovered> => {
  const now = (await readClock(sql))().getTime();
  const counts: Recovered = { recovered: 0, abandoned: 0 };
  const errors: unknown[] = [];
  let batch = await listIdleRuns(sql, idleMs, BATCH);
  if (batch.length === 0) return counts;
  const readJobs = async (spec: AnySpec): Promise<Jobs> => {
    const queue = producer.queue(spec);
    return { queue, states: await readQueuedJobs(queue, signal) };
  };
  // In this order, because when the details of a page end, the list job of the next page starts to wait.
  const detail = await readJobs(queryGameDetail);
  const jobs: StepJobs = { detail, list: await readJobs(queryGameList) };
  const recoverAll = async (runs: Iterable<RunRow>): Promise<void> => {
    for (const run of runs) {
      if (signal.aborted) return;
      // A run that cannot be recovered does not stop the others.
      const result = await recoverRun(sql, producer, jobs, run, { now, abandonMs }).catch(
        (error: unknown) => {
          errors.push(error);
          return undefined;
        },
      );
      if (result !== undefined) counts[result] += 1;
    }
  };
  for (;;) {
    const shared = batch.values();
    await Promise.all(Array.from({ length: CONCURRENCY }, () => recoverAll(shared)));
    if (batch.length < BATCH || signal.aborted) break;
    batch = await listIdleRuns(sql, idleMs, BATCH, batch.at(-1)?.run_id);
  }
  if (errors.length > 0) throw errors[0];
  return counts;
};

/**
 * Abandons a run, and opens one like it if its application is active.
 * @returns false when the fence is stale
 */
export const replaceRun = async (
  { sql, producer }: { sql: Database; producer: Producer },
  run: RunRow,
  reason: string,
): Promise<boolean> => {
  if ((await abandonRun(sql, run, reason)) === undefined) return false;
  const { application_id, trigger, full, accept_withdrawals } = run;
  if ((await findApplication(sql, application_id))?.status === 'active')
    await startRun({ sql, producer }, { application_id, trigger, full, accept_withdrawals });
  return true;
};

const recoverRun = async (
  sql: Database,
  producer: Producer,
  jobs: StepJobs,
  run: RunRow,
  { now, abandonMs }: { now: number; abandonMs: number },
): Promise<keyof Recovered | undefined> => {
  const activeSince = await runActiveSince(jobs, run, now);
  if (now - Math.max(run.progress_at.getTime(), activeSince ?? 0) > abandonMs) {
    const reason = `no progress for ${Math.round(abandonMs / 60_000)} minutes`;
    return (await replaceRun({ sql, producer }, run, reason)) ? 'abandoned' : undefined;
  }
  if (activeSince !== undefined) return undefined;
  const raised = await raiseFence(sql, run);
  if (raised === undefined) return undefined;
  await enqueueNextStep(producer, raised, await hasOpenGames(sql, raised));
  return 'recovered';
};
