const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** An application is paused once it has failed for this long and this often: both, since schedules differ. */
const PAUSE_AFTER_MS = 3 * DAY_MS;
const PAUSE_AFTER_RUNS = 10;

/** How an application's latest scheduled runs went. */
export type Backoff = {
  /** Scheduled runs that failed in a row. */
  failed_runs: number;
  /** When the first of them began. */
  failing_since: Date | null;
  /** The schedule's ticks before it pass by. */
  next_attempt_at: Date | null;
  /** Why it was paused by us; null when it was not. */
  pause_reason: string | null;
};

/** No run failed since the last that did not. */
export const NO_BACKOFF: Backoff = {
  failed_runs: 0,
  failing_since: null,
  next_attempt_at: null,
  pause_reason: null,
};

/** Runs wait twice as long after each failure, up to a day; a schedule slower than that keeps its own pace. */
const waitMs = (failedRuns: number, everyMs: number): number =>
  Math.min(everyMs * 2 ** (failedRuns - 1), Math.max(DAY_MS, everyMs));

/**
 * What follows from one more failed run: the next one, the half-open probe, comes `every` after the first
 * failure, then twice as late each time, up to a day. Ten failures over at least three days pause the
 * application: from then on only an operator asks.
 *
 * @param run when it began, when it failed and why, in words for the operator
 * @param everyMs the schedule's interval
 */
export const afterFailedRun = (
  before: Pick<Backoff, 'failed_runs' | 'failing_since'>,
  run: { started_at: Date; finished_at: Date; reason: string | null },
  everyMs: number,
): Backoff => {
  const failed_runs = before.failed_runs + 1;
  const failing_since = before.failing_since ?? run.started_at;
  const failingMs = run.finished_at.getTime() - failing_since.getTime();
  if (failed_runs >= PAUSE_AFTER_RUNS && failingMs >= PAUSE_AFTER_MS) {
    const since = `${failing_since.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const pause_reason = `${failed_runs} runs in a row failed since ${since}, the last with: ${run.reason ?? 'no reason'}`;
    return { failed_runs, failing_since, next_attempt_at: null, pause_reason };
  }
  const next_attempt_at = new Date(run.started_at.getTime() + waitMs(failed_runs, everyMs));
  return { failed_runs, failing_since, next_attempt_at, pause_reason: null };
};

/**
 * Is this tick the one to try at? The tick nearest to the moment is: ticks come in steps of `everyMs` and a
 * little late, so that waiting for the moment itself would cost a whole step.
 */
export const isDue = (next_attempt_at: Date | null, everyMs: number, nowMs: number): boolean =>
  next_attempt_at === null || next_attempt_at.getTime() - nowMs < everyMs / 2;
