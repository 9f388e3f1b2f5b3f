import { describe, expect, it } from 'vitest';
import { DELIVERY, nextDeliveryMs, probeMs } from '#src/rules/deliveries.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Random values: the shortest wait, the wait of the list, the longest one. */
const [SHORTEST, MIDDLE, LONGEST] = [0, 0.5, 1];

/** Attempts that all fail at once, until they end: the wait after each. */
const failAll = (random: number): number[] => {
  const waits: number[] = [];
  for (let ageMs = 0; ; ) {
    const waitMs = nextDeliveryMs({ attempts: waits.length + 1, ageMs }, random);
    if (waitMs === undefined) return waits;
    waits.push(waitMs);
    ageMs += waitMs;
  }
};

describe('An event that the receiver does not take', () => {
  it('is sent again after 5 seconds, then with growing waits, the last time 24 hours after the first', () => {
    const minutes = failAll(MIDDLE).map((ms) => ms / MINUTE_MS);
    expect(minutes.slice(0, 6)).toEqual([5 / 60, 0.5, 2, 5, 15, 30]);
    expect(minutes.slice(6, 11)).toEqual([60, 120, 240, 360, 600]);
    expect(minutes.slice(11)).toEqual([7 + 25 / 60]);
  });

  it.each([SHORTEST, MIDDLE, LONGEST])('is sent for exactly 24 hours, with the random value %d', (random) => {
    expect(failAll(random).reduce((sum, waitMs) => sum + waitMs, 0)).toBe(DAY_MS);
  });

  it('is sent again up to 5 % sooner or later than another one', () => {
    const hour = { attempts: 7, ageMs: HOUR_MS };
    expect(nextDeliveryMs(hour, SHORTEST)).toBe(57 * MINUTE_MS);
    expect(nextDeliveryMs(hour, LONGEST)).toBe(63 * MINUTE_MS);
  });

  it.for<[what: string, retryAfterMs: number, ageMs: number, waitMs: number]>([
    ['later, if the receiver requests it', 10 * MINUTE_MS, 0, 10 * MINUTE_MS],
    ['no sooner than planned', SECOND_MS, 0, 5 * SECOND_MS],
    ['at the end of the 24 hours at the latest', 10 * MINUTE_MS, DAY_MS - MINUTE_MS, MINUTE_MS],
  ])('is sent again %s', ([, retryAfterMs, ageMs, waitMs]) => {
    expect(nextDeliveryMs({ attempts: 1, ageMs, retryAfterMs }, MIDDLE)).toBe(waitMs);
  });

  it('is not sent again when the 24 hours have passed', () => {
    expect(nextDeliveryMs({ attempts: 2, ageMs: DAY_MS - 1 }, MIDDLE)).toBe(1);
    expect(nextDeliveryMs({ attempts: 2, ageMs: DAY_MS }, MIDDLE)).toBeUndefined();
    expect(nextDeliveryMs({ attempts: 2, ageMs: DAY_MS + 1 }, MIDDLE)).toBeUndefined();
  });
});

it('an address that fails is probed after 5 seconds, then twice as late each time, at least every 15 minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((failures) => probeMs(failures) / SECOND_MS)).toEqual([
    ...[5, 10, 20, 40, 80, 160, 320, 640],
  ]);
  for (const failures of [9, 100, 10_000]) expect(probeMs(failures)).toBe(DELIVERY.probeMaxMs);
  expect(DELIVERY.probeMaxMs).toBe(15 * MINUTE_MS);
});
