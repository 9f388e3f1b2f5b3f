import { expect, test } from 'vitest';
import { shareConcurrency } from '#src/lib/share-concurrency.ts';

test('at most two tasks of one owner run at once, the others wait in order, and one that fails makes room', async () => {
  const share = shareConcurrency(2);
  const started: string[] = [];
  const ends: Record<string, PromiseWithResolvers<string>> = {};
  const run = (name: string) =>
    share('owner', async () => {
      started.push(name);
      ends[name] = Promise.withResolvers();
      return ends[name].promise;
    });
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(run);
  expect(started).toEqual(['a', 'b']);
  ends.b?.reject(new Error('b fails'));
  await expect(b).rejects.toThrow('b fails');
  await expect.poll(() => started).toEqual(['a', 'b', 'c']);
  ends.a?.resolve('first');
  expect(await a).toBe('first');
  await expect.poll(() => started).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) ends[name]?.resolve(name);
  expect(await Promise.all([c, d])).toEqual(['c', 'd']);
  const e = run('e');
  expect(started.at(-1)).toBe('e');
  ends.e?.resolve('e');
  await e;
});
