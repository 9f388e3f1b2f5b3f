import { expect } from 'vitest';
import { openDatabase, type Queryable } from '#db/client.ts';

/**
 * Commits a transaction for each subject: the first one begins first and commits last. Expects that the reader misses none.
 * @param read returns the subjects of the next events, a few at once
 */
export const expectEachRead = async (
  databaseUrl: string,
  [held = '', ...others]: readonly string[],
  writeFor: (tx: Queryable, subject: string) => Promise<unknown>,
  read: () => Promise<string[]>,
): Promise<void> => {
  await using stack = new AsyncDisposableStack();
  const writers = openDatabase(databaseUrl, { max: 6, applicationName: 'writers' });
  stack.defer(() => writers.end());
  const seen: string[] = [];
  const readMore = async (): Promise<number> => seen.push(...(await read()));
  /** Writes an event, then commits when the gate opens. */
  const write = (subject: string) => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const done = writers.begin(async (tx) => {
      await writeFor(tx, subject);
      begun.resolve();
      await gate.promise;
    });
    return { begun: begun.promise, commit: gate.resolve, done };
  };
  const first = write(held);
  await first.begun;
  for (let from = 0; from < others.length; from += 5) {
    // Five transactions begin in one order, and commit in the opposite one, with reads between.
    const group = others.slice(from, from + 5).map(write);
    await Promise.all(group.map(({ begun }) => begun));
    for (const { commit, done } of group.toReversed()) {
      commit();
      await Promise.all([done, readMore()]);
    }
  }
  for (let before = -1; before < seen.length; ) {
    before = seen.length;
    await readMore();
  }
  expect(seen.toSorted()).toEqual(others.toSorted());
  first.commit();
  await first.done;
  await readMore();
  expect(seen.at(-1)).toBe(held);
  expect(seen).toHaveLength(1 + others.length);
};
