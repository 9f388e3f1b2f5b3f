const MINUTE_MS = 60_000;

/**
 * How long we wait when an application requests a delay (Retry-After), in milliseconds. Each limit is larger than the
 * one before it:
 *
 * - A run outlasts one whole Retry-After; an application that requests delays repeatedly fails its run.
 * - A run that waits too long fails before it can be abandoned, so that its reason names the application.
 * - Jobs of a run stop at the run's limits; the job's own limit ends jobs that belong to no run.
 */
export const WAITING = {
  /** A longer Retry-After is cut to this. */
  retryAfterMaxMs: 15 * MINUTE_MS,
  /** A run may wait this long without progress. */
  runWaitMaxMs: 20 * MINUTE_MS,
  /** A run without progress for this long is abandoned. */
  abandonRunMs: 30 * MINUTE_MS,
  /** A job may be postponed for this long in all. */
  postponedMaxMs: 60 * MINUTE_MS,
} as const;

/** A Retry-After of 0, or a date in the past, still postpones by this: no loop runs without a pause. */
const POSTPONE_MIN_MS = 1_000;

/** How long a job is postponed when an application requests a delay of `ms`. */
export const postponeMs = (ms: number): number => Math.max(ms, POSTPONE_MIN_MS);

/** May a job that was postponed for `postponedMs` be postponed by another `ms`? */
export const mayJobWait = (postponedMs: number, ms: number): boolean =>
  postponedMs + postponeMs(ms) <= WAITING.postponedMaxMs;

/** May a run wait another `ms`, given its last progress and the database's clock? */
export const mayRunWait = (progress_at: Date, now: Date, ms: number): boolean =>
  now.getTime() + ms - progress_at.getTime() <= WAITING.runWaitMaxMs;
