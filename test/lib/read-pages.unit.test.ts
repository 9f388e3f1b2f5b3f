import { expect, test } from 'vitest';
import { readPages } from '#src/lib/read-pages.ts';

const pagesOf = async (rows: readonly number[], limit: number): Promise<(readonly number[])[]> =>
  Array.fromAsync(
    readPages<number>(limit, async (last = 0) => rows.filter((row) => row > last).slice(0, limit)),
  );

test('each page begins after the last row of the one before, and a short page is the last one', async () => {
  expect(await pagesOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(await pagesOf([1, 2], 2)).toEqual([[1, 2], []]);
  expect(await pagesOf([], 2)).toEqual([[]]);
});
