import { setTimeout as sleep } from 'node:timers/promises';

export type Pace = {
  /** Calls in flight at once. */
  concurrency: number;
  /** Calls started per second. */
  rate: number;
  signal: AbortSignal;
};

/** Shorter waits than this are not slept: a timer is no finer. */
const TICK_MS = 2;

/**
 * Do `work` for each item, no more than `concurrency` at once and no faster than `rate` starts per second,
 * until the items end, `work` says `'stop'`, or the signal aborts. What was started is always waited for.
 * `work` must not reject.
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
  const lane = async (): Promise<void> => {
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
  await Promise.all(Array.from({ length: Math.min(pace.concurrency, items.length) }, lane));
};
