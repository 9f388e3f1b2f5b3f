import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { takeDetailTurn } from '#db/queries/detail-turns.ts';
import { coerceError } from '#src/errors.ts';
import { waitUntil } from '#src/lib/wait-until.ts';

export type Pace = {
  /** Calls in flight at once. */
  concurrency: number;
  /** Calls started per second. */
  rate: number;
  signal: AbortSignal;
  /**
   * Takes the application's next turn, which lasts this long.
   * @returns milliseconds until it begins
   */
  takeTurn: (durationMs: number) => Promise<number>;
};

/** The pace of a job that calls the details of an application. */
export const createJobPace = (
  sql: Queryable,
  { application_id, concurrency, rate }: Pick<ApplicationRow, 'application_id' | 'concurrency' | 'rate'>,
  signal: AbortSignal,
): Pace => ({
  concurrency,
  rate,
  signal,
  takeTurn: (durationMs) => takeDetailTurn(sql, application_id, durationMs),
});

/** Longest turn of a job. Then other jobs of the application have their turn. */
const TURN_MS = 2_000;
/** A turn's calls may begin until 500 ms after the longest turn ends, because earlier calls may be slow. */
const USABLE_MS = TURN_MS + 500;

/**
 * Hands out the starts of calls, at most `rate` per second, within turns of the application. All jobs of all workers that
 * call its details take turns, so they share its rate. A job takes its next turn at the end of the one that it has.
 * @param left calls that have no start yet
 * @returns a function that resolves to the start of the next call, in milliseconds of the monotonic clock
 */
const createStarts = ({ rate, signal, takeTurn }: Pace, left: () => number): (() => Promise<number>) => {
  const spacingMs = 1_000 / rate;
  const most = Math.max(1, Math.floor(TURN_MS / spacingMs));
  const turn = { calls: 0, next: 0, until: 0 };
  let taking: Promise<void> | undefined;
  const take = async (): Promise<void> => {
    await waitUntil(turn.next, signal);
    if (signal.aborted) return;
    const calls = Math.min(left(), most);
    const durationMs = calls * spacingMs;
    const next = (await takeTurn(durationMs)) + performance.now();
    Object.assign(turn, { calls, next, until: next + USABLE_MS });
  };
  return async () => {
    while (!signal.aborted && (turn.calls === 0 || performance.now() > turn.until)) {
      taking ??= take().finally(() => {
        taking = undefined;
      });
      await taking;
    }
    turn.calls -= 1;
    const start = Math.max(turn.next, performance.now());
    turn.next = start + spacingMs;
    return start;
  };
};

/**
 * Runs `work` for each item, at most `concurrency` at once, started at the application's pace, until the items end,
 * `work` resolves to `'stop'`, or the signal aborts. Resolves when all started work has ended.
 * @throws what `work` or `takeTurn` throws, when all started work has ended
 */
export const forEachPaced = async <Item>(
  items: readonly Item[],
  pace: Pace,
  work: (item: Item) => Promise<'go on' | 'stop'>,
): Promise<void> => {
  let next = 0;
  let started = 0;
  let failure: Error | undefined;
  const stopped = new AbortController();
  const signal = AbortSignal.any([pace.signal, stopped.signal]);
  const nextStart = createStarts({ ...pace, signal }, () => items.length - started);
  const startNext = async (): Promise<void> => {
    const item = items[next] as Item;
    next += 1;
    const start = await nextStart();
    started += 1;
    await waitUntil(start, signal);
    if (!signal.aborted && (await work(item)) === 'stop') stopped.abort();
  };
  const worker = async (): Promise<void> => {
    try {
      while (!signal.aborted && next < items.length) await startNext();
    } catch (error) {
      failure ??= coerceError(error);
      stopped.abort();
    }
  };
  await Promise.all(Array.from({ length: Math.min(pace.concurrency, items.length) }, worker));
  if (failure !== undefined) throw failure;
};
