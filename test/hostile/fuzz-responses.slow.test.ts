import { expect, test } from 'vitest';
import { fuzzResponses } from '#test/hostile/fuzz-responses.ts';

test('no response, however its bytes are mutated, costs more than 250 ms or ends in an unknown error', async () => {
  const { valid } = await fuzzResponses(3_000);
  expect(valid).toBeGreaterThan(0);
});
