import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonExcess } from '#src/lib/json-excess.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('measures the nesting of any JSON text as its value has it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), fc.nat(7), (value, max) => {
      const excess = findJsonExcess(JSON.stringify(value), { depth: max, values: Infinity });
      expect(excess === 'too_deep').toBe(depthOf(value) > max);
    }),
    { numRuns: 2_000 },
  );
});

/** Keys and values, each container with one more than its members, as its brackets and commas count. */
const countOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  const separators = Math.max(0, members.length - 1) + (Array.isArray(value) ? 0 : members.length);
  return 1 + separators + members.reduce((sum: number, member) => sum + countOf(member), 0);
};

test('counts the keys and values of any JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), fc.nat(40), (value, max) => {
      const excess = findJsonExcess(JSON.stringify(value), { depth: 99, values: max });
      expect(excess === 'too_many_values').toBe(countOf(value) > max);
    }),
    { numRuns: 2_000 },
  );
});

test('a hostile text of 4 MiB takes no longer than a kind one', () => {
  for (const piece of ['"', '\\', '\\"', '"\\\\', '[]', '"{"']) {
    const text = piece.repeat((4 * 1024 * 1024) / piece.length);
    // A scan that is not linear takes hours: it meets the limit of the test.
    expect(findJsonExcess(text, { depth: 32, values: Infinity })).not.toBe('too_many_values');
  }
});
