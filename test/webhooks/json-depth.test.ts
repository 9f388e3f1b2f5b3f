import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDeeperThan } from '#src/webhooks/read-response.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('measures the nesting of any JSON text as its value has it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), fc.nat(7), (value, max) => {
      expect(isDeeperThan(JSON.stringify(value), max)).toBe(depthOf(value) > max);
    }),
    { numRuns: 2_000 },
  );
});

test('looks at a hostile text no longer than at a kind one', () => {
  for (const piece of ['"', '\\', '\\"', '"\\\\', '[]', '"{"']) {
    const text = piece.repeat((4 * 1024 * 1024) / piece.length);
    const startMs = performance.now();
    isDeeperThan(text, 32);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  }
});
