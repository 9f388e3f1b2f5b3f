import { MINUTE_MS } from '#src/lib/duration.ts';

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

/** The shortest postponement. A Retry-After below it, 0 or a date in the past, requests no delay. */
const POSTPONE_MIN_MS = 1_000;
/** A job without progress is postponed this many times for a Retry-After of no delay; the next one counts as an attempt. */
const NO_DELAY_MAX = 3;

/** How a job was postponed: for how long in all, and how often since it last made progress. */
export type Postponed = { postponed_ms: number; postponed_times: number };
export const NOT_POSTPONED: Postponed = { postponed_ms: 0, postponed_times: 0 };

/**
 * Returns how long a job is postponed when an application requests a delay of `ms`: as requested, but without progress at least
 * 1, 2, 4 … s, so that no job calls every second.
 * @returns undefined when the job was postponed enough: then the failure counts as an attempt
 */
export const postponeMs = (ms: number, { postponed_ms, postponed_times }: Postponed): number | undefined => {
  if (ms < POSTPONE_MIN_MS && postponed_times >= NO_DELAY_MAX) return undefined;
  const delayMs = Math.max(ms, Math.min(POSTPONE_MIN_MS * 2 ** postponed_times, WAITING.retryAfterMaxMs));
  return postponed_ms + delayMs <= WAITING.postponedMaxMs ? delayMs : undefined;
};

/** May a run wait another `ms`, given its last progress and the database's clock? */
export const mayRunWait = (progress_at: Date, now: Date, ms: number): boolean =>
  now.getTime() + ms - progress_at.getTime() <= WAITING.runWaitMaxMs;
