import { InvalidArgumentError } from '@commander-js/extra-typings';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { formatCount, formatTime } from '#src/cli/kit/format.ts';
import {
  durationBetween,
  integerUpTo,
  parseApplicationId,
  parseUuid,
  variadic,
} from '#src/cli/kit/parsers.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { parseSince } from '#src/lib/since.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('A duration', () => {
  const parse = durationBetween(1_000, 90 * DAY_MS);

  it.for<[text: string, ms: number]>([
    ['30s', 30_000],
    ['15m', 15 * MINUTE_MS],
    ['24h', DAY_MS],
    ['90d', 90 * DAY_MS],
  ])('%s is %i milliseconds', ([text, ms]) => {
    expect(parse(text)).toBe(ms);
  });

  it.for(['', '15', 'm', '1.5h', '-1m', '0s', '91d', '1w', '15 m', '15M', '1h30m', '99999999999999999999d'])(
    'is not "%s"',
    (text) => {
      expect(() => parse(text)).toThrow(InvalidArgumentError);
    },
  );

  it('that is refused is answered with the bounds and with examples within them', () => {
    const every = durationBetween(MINUTE_MS, 30 * DAY_MS);
    for (const text of ['1s', '30s', '31d'])
      expect(() => every(text)).toThrow('Give a duration such as 15m or 24h, from 1m to 30d.');
    expect(() => parse('91d')).toThrow('Give a duration such as 30s or 15m, from 1s to 90d.');
  });

  it('is formatted to a text that parses to the same duration', () => {
    const text = fc
      .tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom('s', 'm', 'h', 'd'))
      .map((t) => t.join(''));
    fc.assert(
      fc.property(text, (given) => {
        expect(parse(formatDuration(parse(given)))).toBe(parse(given));
      }),
    );
  });
});

it('accepts whole numbers within the bounds and nothing else', () => {
  const calls = integerUpTo(100);
  expect(calls('1')).toBe(1);
  expect(calls('100')).toBe(100);
  for (const text of ['0', '101', '', ' 5', '1e1', '0x10', '-3', '1.0', 'ten'])
    expect(() => calls(text)).toThrow('Give a whole number from 1 to 100.');
});

it('accepts the application ids that the database accepts', () => {
  for (const text of ['a', '9', 'acme-games', 'a'.repeat(63)]) expect(parseApplicationId(text)).toBe(text);
  for (const text of ['', '-a', 'Acme', 'a_b', 'a.b', 'a:b', 'ä', 'a'.repeat(64), 'a\n'])
    expect(() => parseApplicationId(text)).toThrow(InvalidArgumentError);
});

it('parses each value of a variadic argument', () => {
  const read = variadic(parseApplicationId);
  expect(read('bolt', read('acme'))).toEqual(['acme', 'bolt']);
  expect(() => read('Bolt', ['acme'])).toThrow(InvalidArgumentError);
});

it('accepts a complete UUID in any case', () => {
  expect(parseUuid('019A2B3C-4D5E-7F60-8A9B-0C1D2E3F4A5B')).toBe('019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b');
  for (const text of ['', '019a2b3c', '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b\n'])
    expect(() => parseUuid(text)).toThrow(InvalidArgumentError);
});

it('accepts durations and times that exist, local if they name no zone', () => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [text, time] of [
    ['2026-03-31', '2026-03-30T18:30:00.000Z'],
    ['2026-03-31T14:35', '2026-03-31T09:05:00.000Z'],
    ['2026-03-31 14:35:00+05:30', '2026-03-31T09:05:00.000Z'],
    ['2026-03-31T14:35:00.25Z', '2026-03-31T14:35:00.250Z'],
    ['2028-02-29', '2028-02-28T18:30:00.000Z'],
  ] as const)
    expect(parseSince(text).toISOString()).toBe(time);
  expect(parseSince('2026-03-31', 'UTC').toISOString()).toBe('2026-03-31T00:00:00.000Z');
  expect(parseSince('2026-03-31T14:35+05:30', 'UTC').toISOString()).toBe('2026-03-31T09:05:00.000Z');
  const before = Date.now();
  expect(parseSince('24h').getTime()).toBeGreaterThanOrEqual(before - DAY_MS);
  for (const text of [
    '7',
    '2026',
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-03-31T25:00',
    '1969-01-01',
  ])
    expect(() => parseSince(text), text).toThrow('Give a duration such as 24h or 7d, or a time');
});

it('formats a time to the second, in the local zone with its offset', () => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(formatTime(new Date('2026-03-31T09:05:00.999Z'))).toBe('2026-03-31 14:35:00+05:30');
});

it('formats a count with its noun', () => {
  expect([0, 1, 2].map((count) => formatCount(count, 'game'))).toEqual(['0 games', '1 game', '2 games']);
});
