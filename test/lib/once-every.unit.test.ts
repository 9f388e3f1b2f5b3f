import { expect, test } from 'vitest';
import { onceEvery } from '#src/lib/once-every.ts';

test('the first call is due, and those after it are not within the time', () => {
  const isDue = onceEvery(60_000);
  expect([isDue(), isDue(), isDue()]).toEqual([true, false, false]);
  const isAlwaysDue = onceEvery(0);
  expect([isAlwaysDue(), isAlwaysDue()]).toEqual([true, true]);
});
