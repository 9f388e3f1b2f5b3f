import { describe, expect, it } from 'vitest';
import { explainOverrun, pageBytes } from '#src/rules/run-budget.ts';

const MIB = 1024 * 1024;
const BEGIN = new Date('2026-03-01T00:00:00.000Z');
const HOUR_MS = 60 * 60_000;

describe('A run', () => {
  const overrun = ({ stored = 0, storable = null as number | null, afterMs = 0 }) =>
    explainOverrun(
      { started_at: BEGIN, stored_bytes: stored, storable_bytes: storable },
      new Date(BEGIN.getTime() + afterMs),
    );
  const QUOTA =
    "over_quota: the application's new and changed games of 24 hours reached 2048 MiB; the next run continues when there is room";
  const TIME = 'over_time: the run did not end within 24 hours; does the list end?';

  it.for<[what: string, use: Parameters<typeof overrun>[0], reason: string | undefined]>([
    ['has used nothing', {}, undefined],
    ['may store without a bound', { stored: 5_000 * MIB }, undefined],
    ['has stored less than it may', { stored: 9, storable: 10 }, undefined],
    ['has stored what it may', { stored: 10, storable: 10 }, QUOTA],
    ['begins when there is no room', { storable: 0 }, QUOTA],
    ['has lasted 24 hours', { afterMs: 24 * HOUR_MS }, undefined],
    ['has lasted longer', { afterMs: 24 * HOUR_MS + 1 }, TIME],
    ['is over both budgets', { stored: 10, storable: 10, afterMs: 25 * HOUR_MS }, QUOTA],
  ])('that %s: %j ends with %s', ([, use, reason]) => {
    expect(overrun(use)).toBe(reason);
  });
});

it('a page counts 64 bytes for each row, and the UTF-8 bytes of the ids that it names', () => {
  expect(pageBytes(0, [])).toBe(0);
  expect(pageBytes(100, [])).toBe(6_400);
  expect(pageBytes(3, ['g-1', 'é', '🎲'])).toBe(3 * 64 + 3 + 2 + 4);
});
