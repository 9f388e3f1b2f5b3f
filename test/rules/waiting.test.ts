import { expect, it } from 'vitest';
import { mayJobWait, mayRunWait, postponeMs, WAITING } from '#src/rules/waiting.ts';

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

it('postpones a job by a second at least, and by an hour in all at most', () => {
  expect(postponeMs(0)).toBe(1_000);
  expect(postponeMs(-5)).toBe(1_000);
  expect(postponeMs(2_500)).toBe(2_500);
  expect(mayJobWait(45 * MINUTE_MS, 15 * MINUTE_MS)).toBe(true);
  expect(mayJobWait(45 * MINUTE_MS + 1, 15 * MINUTE_MS)).toBe(false);
  expect(mayJobWait(60 * MINUTE_MS - 999, 0)).toBe(false);
});
