import { expect, it } from 'vitest';
import { forEachPaced } from '#src/ingest/for-each-paced.ts';

const ITEMS = Array.from({ length: 100 }, (_, item) => item);

/** Turns that follow each other, as those of an application do, and how much of its time they take. */
const countTurns = () => {
  const turns = {
    takenMs: 0,
    takeTurn: async (durationMs: number) => {
      const waitMs = turns.takenMs;
      turns.takenMs += durationMs;
      return waitMs;
    },
  };
  return turns;
};

it('has one turn at a time, although more calls than a turn has may be in flight', async () => {
  const over = new AbortController();
  const turns = countTurns();
  const pace = { concurrency: 100, rate: 10, signal: over.signal, takeTurn: turns.takeTurn };
  let called = 0;
  const ended = forEachPaced(ITEMS, pace, async () => {
    called += 1;
    return 'go on';
  });
  await expect.poll(() => called).toBeGreaterThan(1);
  expect(turns.takenMs).toBe(2_000);
  over.abort();
  await ended;
});

it('stops at once, and takes no further turn', async () => {
  const turns = countTurns();
  const { signal } = new AbortController();
  // A wait for the next turn, of 100 s, would outlast the test.
  const pace = { concurrency: 100, rate: 0.01, signal, takeTurn: turns.takeTurn };
  await forEachPaced(ITEMS, pace, async () => 'stop');
  expect(turns.takenMs).toBe(100_000);
});
