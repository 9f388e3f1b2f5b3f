import { InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applicationGameId,
  applicationId,
  displayName,
  duration,
  each,
  formatDuration,
  formatMoment,
  integer,
  uuid,
} from '#src/cli/values.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('A span', () => {
  const span = duration({ minMs: 1_000, maxMs: 90 * DAY_MS });

  it.for<[text: string, ms: number]>([
    ['30s', 30_000],
    ['15m', 15 * MINUTE_MS],
    ['24h', DAY_MS],
    ['90d', 90 * DAY_MS],
  ])('%s is %i milliseconds', ([text, ms]) => {
    expect(span(text)).toBe(ms);
  });

  it.for(['', '15', 'm', '1.5h', '-1m', '0s', '91d', '1w', '15 m', '15M', '1h30m', '99999999999999999999d'])(
    'is not "%s"',
    (text) => {
      expect(() => span(text)).toThrow(InvalidArgumentError);
    },
  );

  it('says from where to where it may go', () => {
    const every = duration({ minMs: MINUTE_MS, maxMs: 30 * DAY_MS });
    expect(() => every('1s')).toThrow('Give a span such as 30s, 15m, 24h or 90d, from 1m to 30d.');
  });

  it('is written as it was read', () => {
    const text = fc
      .tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom('s', 'm', 'h', 'd'))
      .map((t) => t.join(''));
    fc.assert(
      fc.property(text, (given) => {
        expect(span(formatDuration(span(given)))).toBe(span(given));
      }),
    );
  });
});

it('takes whole numbers within their bounds and nothing else', () => {
  const calls = integer({ min: 1, max: 100 });
  expect(calls('1')).toBe(1);
  expect(calls('100')).toBe(100);
  for (const text of ['0', '101', '', ' 5', '1e1', '0x10', '-3', '1.0', 'ten'])
    expect(() => calls(text)).toThrow('Give a whole number from 1 to 100.');
});

it('takes an application_id that the database takes too', () => {
  for (const text of ['a', '9', 'acme-games', 'a'.repeat(63)]) expect(applicationId(text)).toBe(text);
  for (const text of ['', '-a', 'Acme', 'a_b', 'a.b', 'a:b', 'ä', 'a'.repeat(64), 'a\n'])
    expect(() => applicationId(text)).toThrow(InvalidArgumentError);
});

it('takes any id of a game that the interface document allows', () => {
  for (const text of ['g-1', ' ', 'Ünïcödé/?#', 'x'.repeat(512)]) expect(applicationGameId(text)).toBe(text);
  for (const text of ['', 'x'.repeat(513)])
    expect(() => applicationGameId(text)).toThrow(InvalidArgumentError);
});

it('takes a name that says something', () => {
  for (const text of ['Acme', ' Acme  Games ', 'ü'.repeat(200)]) expect(displayName(text)).toBe(text.trim());
  for (const text of ['', '  ', 'x'.repeat(201)])
    expect(() => displayName(text)).toThrow(InvalidArgumentError);
});

it('reads each value of an argument that is given several times', () => {
  const read = each(applicationId);
  expect(read('bolt', read('acme'))).toEqual(['acme', 'bolt']);
  expect(() => read('Bolt', ['acme'])).toThrow(InvalidArgumentError);
});

it('takes an id in any case, and whole', () => {
  expect(uuid('019A2B3C-4D5E-7F60-8A9B-0C1D2E3F4A5B')).toBe('019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b');
  for (const text of ['', '019a2b3c', '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b\n'])
    expect(() => uuid(text)).toThrow(InvalidArgumentError);
});

it('shows a moment to the second, and none as nothing', () => {
  expect(formatMoment(new Date('2026-03-31T09:05:00.999Z'))).toBe('2026-03-31 09:05:00');
  expect(formatMoment(null)).toBe('');
});
