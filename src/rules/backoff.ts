import { DAY_MS } from '#src/lib/duration.ts';
import { COUNTED_MAX } from '#src/rules/budgets.ts';

/** An application is paused once it has failed for this long and this often: both, because schedules differ. */
export const PAUSE_AFTER_MS = 3 * DAY_MS;
export const PAUSE_AFTER_RUNS = 10;

/** Most applications are unreachable only if there are this many, and more than this share of them is unreachable. */
const FLEET_MIN = 5;
const FLEET_SHARE = 0.5;

/** Ends the reason of a run that failed while most applications were unreachable. Such a run causes no backoff. */
export const MOST_UNREACHABLE = "most applications are unreachable: check the fleet's own DNS and egress";

/** Leads to the reason of the last run in that of a pause. */
export const LAST_WITH = ', the last with: ';

/** Applications with a recent run, and those whose latest run failed before any response. */
export type Reach = { applications: number; unreachable: number };

/** Does the fleet reach so few applications that its own network is the likely cause? */
export const areMostUnreachable = ({ applications, unreachable }: Reach): boolean =>
  applications >= FLEET_MIN && unreachable > applications * FLEET_SHARE;

/** How an application's latest scheduled runs went. */
export type Backoff = {
  /** Scheduled runs that failed in a row. */
  failed_runs: number;
  /** Start of the first of them. */
  failing_since: Date | null;
  /** Ticks before this moment open no run. */
  next_attempt_at: Date | null;
  /** Why the application was paused automatically; null when it was not. */
  pause_reason: string | null;
};

export const NO_BACKOFF: Backoff = {
  failed_runs: 0,
  failing_since: null,
  next_attempt_at: null,
  pause_reason: null,
};

/** The delay doubles with each failure, up to a day; a slower schedule keeps its own interval. */
const delayMs = (failedRuns: number, everyMs: number): number =>
  Math.min(everyMs * 2 ** (failedRuns - 1), Math.max(DAY_MS, everyMs));

/**
 * Returns the backoff after one more failed run. The next run comes `everyMs` after the first failure, then twice as late each
 * time, up to a day. Ten failures over at least three days pause the application, until an operator resumes it or a
 * manual run succeeds.
 * @param run its reason is shown to the operator
 * @param everyMs the schedule's interval
 */
export const afterFailedRun = (
  before: Pick<Backoff, 'failed_runs' | 'failing_since'>,
  run: { started_at: Date; finished_at: Date; reason: string | null },
  everyMs: number,
): Backoff => {
  const failed_runs = Math.min(before.failed_runs, COUNTED_MAX) + 1;
  const failing_since = before.failing_since ?? run.started_at;
  const failingMs = run.finished_at.getTime() - failing_since.getTime();
  if (failed_runs >= PAUSE_AFTER_RUNS && failingMs >= PAUSE_AFTER_MS) {
    const since = `${failing_since.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const pause_reason = `${failed_runs} runs in a row failed since ${since}${LAST_WITH}${run.reason ?? 'no reason'}`;
    return { failed_runs, failing_since, next_attempt_at: null, pause_reason };
  }
  const next_attempt_at = new Date(run.started_at.getTime() + delayMs(failed_runs, everyMs));
  return { failed_runs, failing_since, next_attempt_at, pause_reason: null };
};

/**
 * Returns the moment after which a tick opens a run, in milliseconds since 1970. It is the tick nearest to `next_attempt_at`:
 * ticks come every `everyMs` and a little late, so waiting for the exact moment would cost a whole interval.
 */
export const dueAfter = (next_attempt_at: Date | null, everyMs: number): number =>
  next_attempt_at === null ? 0 : next_attempt_at.getTime() - everyMs / 2;

/** Does this tick open a run? A moment later than any backoff was written before the clock of Postgres was set back. */
export const isDue = (
  { failed_runs, next_attempt_at }: Pick<Backoff, 'failed_runs' | 'next_attempt_at'>,
  everyMs: number,
  nowMs: number,
): boolean => {
  if (next_attempt_at === null) return true;
  const isAstray = next_attempt_at.getTime() - nowMs > delayMs(failed_runs, everyMs);
  return nowMs > dueAfter(next_attempt_at, everyMs) || isAstray;
};
