import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { shareReads } from '#src/api/share-reads.ts';

it('calls with the same key in one turn share one read', async () => {
  const keys: number[] = [];
  const read = shareReads(async (key: number) => keys.push(key), String);
  expect(await Promise.all([read(1), read(1), read(2)])).toEqual([1, 1, 2]);
  expect(keys).toEqual([1, 2]);
});

it('a call that arrives after a read has begun gets a read of its own', async () => {
  let reads = 0;
  let finish = (): void => {};
  const first = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const read = shareReads(async (_key: string) => {
    reads += 1;
    const number = reads;
    if (number === 1) await first;
    return number;
  }, String);
  const early = read('page');
  await nextTurn();
  await nextTurn();
  expect(reads).toBe(1);
  expect(await read('page')).toBe(2);
  finish();
  expect(await early).toBe(1);
});

it('a failed read fails its callers and no other', async () => {
  const read = shareReads(async (key: string) => {
    if (key === 'broken') throw new Error('no connection');
    return key;
  }, String);
  const results = await Promise.allSettled([read('broken'), read('broken'), read('whole')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(await read('whole')).toBe('whole');
});
