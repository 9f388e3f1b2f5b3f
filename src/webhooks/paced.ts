import { setTimeout as sleep } from 'node:timers/promises';

export type Pace = {
  /** Calls in flight at once. */
  concurrency: number;
  /** Calls started per second. */
  rate: number;
  signal: AbortSignal;
};

/** Shorter waits are skipped: timers are not more precise. */
const TICK_MS = 2;

/**
 * Runs `work` for each item, at most `concurrency` at once and at most `rate` starts per second, until the items end,
 * `work` resolves to `'stop'`, or the signal aborts. Resolves when all started work has ended. `work` must not reject.
 */
export const forEachPaced = async <Item>(
  items: readonly Item[],
  pace: Pace,
  work: (item: Item) => Promise<'go on' | 'stop'>,
): Promise<void> => {
  const spacingMs = 1_000 / pace.rate;
  let nextStart = performance.now();
  let next = 0;
  let stopped = false;
  const worker = async (): Promise<void> => {
    while (!stopped && !pace.signal.aborted && next < items.length) {
      const item = items[next] as Item;
      next += 1;
      const now = performance.now();
      const start = Math.max(nextStart, now);
      nextStart = start + spacingMs;
      if (start - now >= TICK_MS) {
        await sleep(start - now, undefined, { signal: pace.signal }).catch(() => {});
        if (stopped || pace.signal.aborted) return;
      }
      if ((await work(item)) === 'stop') stopped = true;
    }
  };
  await Promise.all(Array.from({ length: Math.min(pace.concurrency, items.length) }, worker));
};
