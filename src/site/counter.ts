/** Counts that pages show and no page waits for. */
import type { FastifyInstance } from 'fastify';
import { changesState } from '#src/site/origin.ts';

/** Pages of a process share what was read within this time. */
const FRESH_MS = 5_000;

export type Counter<Counts> = {
  /** Returns the latest counts at once, because no page waits for them. They are some seconds old, and older after a pause. */
  counts: () => Counts;
  /** Reads them again, after a change. */
  refresh: () => void;
};

/** @param none the counts before the first read */
export const createCounter = <Counts>(none: Counts, read: () => Promise<Counts>): Counter<Counts> => {
  let counts = none;
  let readAt = Number.NEGATIVE_INFINITY;
  let begun = 0;
  let shown = 0;
  const readAgain = async (): Promise<void> => {
    begun += 1;
    const turn = begun;
    try {
      const latest = await read();
      // A read that began before another one is out of date.
      if (turn < shown) return;
      shown = turn;
      counts = latest;
    } catch {
      // The page that is shown reports a database that is down.
    }
  };
  const refresh = (): void => {
    readAt = performance.now();
    void readAgain();
  };
  return {
    counts: () => {
      if (performance.now() - readAt >= FRESH_MS) refresh();
      return counts;
    },
    refresh,
  };
};

/** Reads the counts before the first page, and after each change, while the browser requests the page that the change leads to. */
export const keepFresh = (app: FastifyInstance, { refresh }: Pick<Counter<unknown>, 'refresh'>): void => {
  app.addHook('onListen', async () => refresh());
  app.addHook('onSend', async ({ method, operator }) => {
    if (operator !== null && changesState(method)) refresh();
  });
};
