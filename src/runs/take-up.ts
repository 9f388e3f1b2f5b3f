import { randomUUIDv7 } from 'node:crypto';
import { type Database, readClock } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { listIdleRuns, openRun, type RunRow, takeOverRun } from '#db/queries/runs.ts';
import { queryGameDetail } from '#jobs/query-game-detail.ts';
import { enqueueNextStep, hasOpenGames, queryGameList, stepId } from '#jobs/query-game-list.ts';
import type { AnyJob } from '#src/queue/define-job.ts';
import type { Producer } from '#src/queue/producer.ts';
import { abandonRun } from '#src/runs/finish-run.ts';

/** How long a run may stand still, in milliseconds. */
export type Patience = { idleMs: number; abandonMs: number };
const PATIENCE: Patience = {
  // A run that moved this recently is left alone: its next job is on its way.
  idleMs: 20_000,
  // Longer than any wait between tries (Retry-After is believed for 15 minutes): who is silent this long is gone.
  abandonMs: 30 * 60_000,
};
const BATCH = 500;

/** A page that waits for the details before it is only alive if they are: a failover may lose one of the two. */
const LIVE_STATES: ReadonlySet<string> = new Set(['active', 'waiting', 'delayed', 'prioritized']);

/** Workers' clocks may differ by this much. */
const CLOCKS_MS = 60_000;

/** Is one of the run's two possible jobs still in the queue? */
const hasLiveJob = async (producer: Producer, run: RunRow, now: Date): Promise<boolean> => {
  const isLive = async (job: AnyJob, page_num: number): Promise<boolean> => {
    const queue = producer.queue(job);
    const id = stepId(run, page_num);
    const state = await queue.getJobState(id);
    if (state !== 'delayed') return LIVE_STATES.has(state);
    // It is due by the clock of the worker that put it off: one that runs ahead would let it wait for hours.
    const { processedOn = 0 } = (await queue.getJob(id)) ?? {};
    return processedOn < now.getTime() + CLOCKS_MS;
  };
  const live = await Promise.all([
    isLive(queryGameList, run.next_page),
    isLive(queryGameList, run.next_page - 1),
    isLive(queryGameDetail, run.next_page - 1),
  ]);
  return live.includes(true);
};

export type TakenUp = { takenUp: number; abandoned: number };

/**
 * Look after open runs that do not move (design, section 4, step 2): one whose job is gone from the queue (a
 * flush, a failover that lost writes, a worker that died too often) is taken up at its recorded next page
 * under a new fence; one without progress for longer than the longest retry is closed as abandoned, and a new
 * one opened.
 */
export const takeUpRuns = async (
  sql: Database,
  producer: Producer,
  signal: AbortSignal,
  patience: Partial<Patience> = {},
): Promise<TakenUp> => {
  const { idleMs, abandonMs } = { ...PATIENCE, ...patience };
  const counts: TakenUp = { takenUp: 0, abandoned: 0 };
  const failures: unknown[] = [];
  const now = (await readClock(sql))();
  for (const run of await listIdleRuns(sql, idleMs, BATCH)) {
    if (signal.aborted) break;
    try {
      await lookAfter(sql, producer, run, { now, abandonMs }, counts);
    } catch (error) {
      // One run that can't be helped keeps nobody else's from it; it is looked at again.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return counts;
};

const lookAfter = async (
  sql: Database,
  producer: Producer,
  run: RunRow,
  { now, abandonMs }: { now: Date; abandonMs: number },
  counts: TakenUp,
): Promise<void> => {
  if (now.getTime() - run.progress_at.getTime() > abandonMs) {
    const reason = `no progress for ${Math.round(abandonMs / 60_000)} minutes`;
    if ((await abandonRun(sql, run, reason)) === undefined) return;
    counts.abandoned += 1;
    await reopen(sql, producer, run);
  } else if (!(await hasLiveJob(producer, run, now))) {
    const taken = await takeOverRun(sql, run);
    if (taken === undefined) return;
    await enqueueNextStep(producer, taken, await hasOpenGames(sql, taken));
    counts.takenUp += 1;
  }
};

const reopen = async (sql: Database, producer: Producer, { application_id, full }: RunRow): Promise<void> => {
  const application = await findApplication(sql, application_id);
  if (application?.status !== 'active') return;
  const next = {
    run_id: randomUUIDv7(),
    application_id,
    trigger: 'schedule' as const,
    full,
    accept_withdrawals: false,
  };
  const { run, opened } = await openRun(sql, next);
  if (opened) await enqueueNextStep(producer, run, false);
};
