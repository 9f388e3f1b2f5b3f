import { expect, it } from 'vitest';
import { mayRunWait, NOT_POSTPONED, postponeMs, WAITING } from '#src/rules/waiting.ts';

const MINUTE_MS = 60_000;

it('has limits of which each is larger than the one before it', () => {
  const limits = Object.values(WAITING);
  expect(limits).toEqual(limits.toSorted((a, b) => a - b));
  expect(new Set(limits).size).toBe(limits.length);
  expect(Object.keys(WAITING)).toEqual(['retryAfterMaxMs', 'runWaitMaxMs', 'abandonRunMs', 'postponedMaxMs']);
});

it('lets a run wait for one whole Retry-After, and not for a second one', () => {
  const progress_at = new Date('2026-03-01T00:00:00Z');
  const after = (minutes: number) => new Date(progress_at.getTime() + minutes * MINUTE_MS);
  expect(mayRunWait(progress_at, after(0), WAITING.retryAfterMaxMs)).toBe(true);
  expect(mayRunWait(progress_at, after(5), WAITING.retryAfterMaxMs)).toBe(true);
  expect(mayRunWait(progress_at, after(15), WAITING.retryAfterMaxMs)).toBe(false);
});

/** The delays of a job that makes no progress, until it was postponed enough. */
const delaysOf = (requestedMs: number): number[] => {
  const delays: number[] = [];
  for (let postponed_ms = 0; ; ) {
    const delayMs = postponeMs(requestedMs, { postponed_ms, postponed_times: delays.length });
    if (delayMs === undefined) return delays;
    delays.push(delayMs);
    postponed_ms += delayMs;
  }
};

it('postpones a job three times when the application requests no delay', () => {
  expect(delaysOf(0)).toEqual([1_000, 2_000, 4_000]);
  expect(delaysOf(999)).toEqual([1_000, 2_000, 4_000]);
});

it('postpones a job without progress by twice as long each time, and never by less than requested', () => {
  expect(delaysOf(1_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900].map((s) => s * 1_000));
  expect(delaysOf(60_000).slice(0, 8)).toEqual([60, 60, 60, 60, 60, 60, 64, 128].map((s) => s * 1_000));
  expect(postponeMs(2_500, NOT_POSTPONED)).toBe(2_500);
});

it('postpones a job by an hour in all at most', () => {
  const after = (minutes: number) => ({ postponed_ms: minutes * MINUTE_MS, postponed_times: 1 });
  expect(postponeMs(15 * MINUTE_MS, after(45))).toBe(15 * MINUTE_MS);
  expect(postponeMs(15 * MINUTE_MS + 1, after(45))).toBe(undefined);
});
