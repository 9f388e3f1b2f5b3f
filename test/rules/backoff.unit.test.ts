import { expect, test } from 'vitest';
import { afterFailedRun, areMostUnreachable, type Backoff, isDue, NO_BACKOFF } from '#src/rules/backoff.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BEGIN = new Date('2026-03-01T00:00:00.000Z');

/** Fail run after run, each at the moment the rule names, until it pauses the application. */
const failUntilPaused = (everyMs: number): { waits: number[]; last: Backoff; pausedAfterMs: number } => {
  const waits: number[] = [];
  let backoff = NO_BACKOFF;
  let started_at = BEGIN;
  for (;;) {
    const finished_at = new Date(started_at.getTime() + MINUTE_MS);
    backoff = afterFailedRun(backoff, { started_at, finished_at, reason: 'page 1: timeout' }, everyMs);
    if (backoff.next_attempt_at === null) {
      return { waits, last: backoff, pausedAfterMs: finished_at.getTime() - BEGIN.getTime() };
    }
    waits.push(backoff.next_attempt_at.getTime() - started_at.getTime());
    started_at = backoff.next_attempt_at;
  }
};

test('the wait after a failed run doubles, from the schedule itself up to a day', () => {
  const { waits } = failUntilPaused(15 * MINUTE_MS);
  expect(waits.map((ms) => ms / HOUR_MS)).toEqual([0.25, 0.5, 1, 2, 4, 8, 16, 24, 24]);
});

test('a schedule slower than a day keeps its own pace', () => {
  const { waits } = failUntilPaused(7 * DAY_MS);
  expect(new Set(waits)).toEqual(new Set([7 * DAY_MS]));
});

test.each([
  ['every minute', MINUTE_MS],
  ['every 15 minutes', 15 * MINUTE_MS],
  ['every day', DAY_MS],
])('an application called %s is paused after three days and ten runs, and says why', (_, everyMs) => {
  const { last, pausedAfterMs } = failUntilPaused(everyMs);
  expect(last.failed_runs).toBeGreaterThanOrEqual(10);
  expect(pausedAfterMs).toBeGreaterThanOrEqual(3 * DAY_MS);
  expect(last.pause_reason).toBe(
    `${last.failed_runs} runs in a row failed since 2026-03-01 00:00 UTC, the last with: page 1: timeout`,
  );
});

test('an application is paused only when both ten runs and three days have failed', () => {
  const afterRun = (failed_runs: number, failingMs: number): Backoff =>
    afterFailedRun(
      { failed_runs: failed_runs - 1, failing_since: BEGIN },
      { started_at: BEGIN, finished_at: new Date(BEGIN.getTime() + failingMs), reason: null },
      HOUR_MS,
    );
  expect(afterRun(9, 30 * DAY_MS).pause_reason).toBeNull();
  expect(afterRun(100, 3 * DAY_MS - 1).pause_reason).toBeNull();
  expect(afterRun(10, 3 * DAY_MS)).toEqual({
    failed_runs: 10,
    failing_since: BEGIN,
    next_attempt_at: null,
    pause_reason: '10 runs in a row failed since 2026-03-01 00:00 UTC, the last with: no reason',
  });
});

test.each([
  [false, 4, 4],
  [true, 5, 5],
  [true, 5, 3],
  [false, 5, 2],
  [false, 6, 3],
  [true, 6, 4],
  [false, 100, 1],
])(
  'areMostUnreachable is %s for %i applications of which %i are unreachable',
  (isCutOff, applications, unreachable) => {
    expect(areMostUnreachable({ applications, unreachable })).toBe(isCutOff);
  },
);

test('the tick nearest to the moment opens the run', () => {
  const next = new Date(BEGIN.getTime() + 4 * HOUR_MS);
  const dueAt = (offsetMs: number) =>
    isDue({ failed_runs: 3, next_attempt_at: next }, HOUR_MS, next.getTime() + offsetMs);
  expect(isDue({ failed_runs: 0, next_attempt_at: null }, HOUR_MS, 0)).toBe(true);
  expect(dueAt(-HOUR_MS)).toBe(false);
  expect(dueAt(-HOUR_MS / 2)).toBe(false);
  expect(dueAt(-HOUR_MS / 2 + 1)).toBe(true);
  expect(dueAt(MINUTE_MS)).toBe(true);
});

test('a moment that is farther away than the backoff delays is due: the clock was set back', () => {
  const next_attempt_at = new Date(BEGIN.getTime() + 4 * HOUR_MS);
  const dueBefore = (ms: number) =>
    isDue({ failed_runs: 3, next_attempt_at }, HOUR_MS, next_attempt_at.getTime() - ms);
  expect(dueBefore(4 * HOUR_MS)).toBe(false);
  expect(dueBefore(4 * HOUR_MS + 1)).toBe(true);
});
