import { randomUUIDv7 } from 'node:crypto';
import { type Database, readClock } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { listIdleRuns, openRun, type RunRow, raiseFence } from '#db/queries/runs.ts';
import { abandonRun } from '#src/ingest/finish-run.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import { enqueueNextStep, hasOpenGames, PAGES_A_JOB, stepId } from '#src/ingest/steps.ts';
import type { AnySpec } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';

/** How long a run may stand still, in milliseconds. */
export type Patience = { idleMs: number; abandonMs: number };
const PATIENCE: Patience = {
  // A run that moved this recently is left alone: its next job is on its way.
  idleMs: 20_000,
  // Longer than any wait between tries (Retry-After is believed for 15 minutes): who is silent this long is gone.
  abandonMs: 30 * 60_000,
};
const BATCH = 500;
/** Runs looked after at once: they share the worker's connections with its jobs. */
const AT_ONCE = 8;

/** Workers' clocks may differ by this much. */
const CLOCKS_MS = 60_000;

/** In a backlog or a paused queue. A page that waits for the details before it stands where they stand. */
const WAITING: ReadonlySet<string> = new Set(['waiting', 'prioritized']);

/**
 * Since when a job is in a worker's care, in milliseconds: since now while it waits its turn, however long that
 * takes; undefined when it is gone from the queue.
 */
const inCareSince = async (
  producer: Producer,
  job: AnySpec,
  id: string,
  now: number,
): Promise<number | undefined> => {
  const queue = producer.queue(job);
  const state = await queue.getJobState(id);
  if (WAITING.has(state)) return now;
  if (state !== 'active' && state !== 'delayed') return undefined;
  const { timestamp = 0, processedOn = timestamp, delay = 0 } = (await queue.getJob(id)) ?? {};
  const ahead = processedOn >= now + CLOCKS_MS;
  if (state === 'active') return ahead ? 0 : processedOn;
  // It is due by the clock of the worker that put it off: one that runs ahead would let it wait for hours.
  if (ahead) return undefined;
  return processedOn + delay <= now ? now : processedOn;
};

/**
 * The same of a run: of any of its possible jobs, for a failover may lose one of two. They are asked for in the
 * order in which they follow each other, so that none is missed when the run moves on meanwhile.
 */
const runInCareSince = async (producer: Producer, run: RunRow, now: number): Promise<number | undefined> => {
  for (let page_num = Math.max(1, run.next_page - PAGES_A_JOB); page_num < run.next_page; page_num += 1) {
    const since = await inCareSince(producer, queryGameList, stepId(run, page_num), now);
    if (since !== undefined) return since;
  }
  return (
    (await inCareSince(producer, queryGameDetail, stepId(run, run.next_page - 1), now)) ??
    (await inCareSince(producer, queryGameList, stepId(run, run.next_page), now))
  );
};

export type Recovered = { recovered: number; abandoned: number };

/**
 * Look after open runs that do not move (design, section 4, step 2): one whose job is gone from the queue (a
 * flush, a failover that lost writes, a worker that died too often) is taken up at its recorded next page
 * under a new fence; one without progress for longer than the longest retry is closed as abandoned, and a new
 * one opened. While its job waits its turn in the queue nobody lets it stand still: it is left alone.
 */
export const recoverRuns = async (
  sql: Database,
  producer: Producer,
  signal: AbortSignal,
  patience: Partial<Patience> = {},
): Promise<Recovered> => {
  const { idleMs, abandonMs } = { ...PATIENCE, ...patience };
  const counts: Recovered = { recovered: 0, abandoned: 0 };
  const failures: unknown[] = [];
  const now = (await readClock(sql))().getTime();
  const lookAfterAll = async (runs: Iterable<RunRow>): Promise<void> => {
    for (const run of runs) {
      if (signal.aborted) return;
      try {
        await lookAfter(sql, producer, run, { now, abandonMs }, counts);
      } catch (error) {
        // One run that can't be helped keeps nobody else's from it; it is looked at again.
        failures.push(error);
      }
    }
  };
  let page: RunRow[] = [];
  do {
    page = await listIdleRuns(sql, idleMs, BATCH, page.at(-1)?.run_id);
    const left = page.values();
    await Promise.all(Array.from({ length: AT_ONCE }, () => lookAfterAll(left)));
  } while (page.length === BATCH && !signal.aborted);
  if (failures.length > 0) throw failures[0];
  return counts;
};

const lookAfter = async (
  sql: Database,
  producer: Producer,
  run: RunRow,
  { now, abandonMs }: { now: number; abandonMs: number },
  counts: Recovered,
): Promise<void> => {
  const inCare = await runInCareSince(producer, run, now);
  if (now - Math.max(run.progress_at.getTime(), inCare ?? 0) > abandonMs) {
    const reason = `no progress for ${Math.round(abandonMs / 60_000)} minutes`;
    if ((await abandonRun(sql, run, reason)) === undefined) return;
    counts.abandoned += 1;
    await reopen(sql, producer, run);
  } else if (inCare === undefined) {
    const taken = await raiseFence(sql, run);
    if (taken === undefined) return;
    await enqueueNextStep(producer, taken, await hasOpenGames(sql, taken));
    counts.recovered += 1;
  }
};

/** What was asked of the abandoned run is asked of the new one. */
const reopen = async (sql: Database, producer: Producer, abandoned: RunRow): Promise<void> => {
  const { application_id, trigger, full, accept_withdrawals } = abandoned;
  const application = await findApplication(sql, application_id);
  if (application?.status !== 'active') return;
  const next = { run_id: randomUUIDv7(), application_id, trigger, full, accept_withdrawals };
  const { run, opened } = await openRun(sql, next);
  if (opened) await enqueueNextStep(producer, run, false);
};
