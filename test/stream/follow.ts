import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '#db/client.ts';
import { listStream } from '#src/events/read-stream.ts';
import { aCopy, format, readCatalogue } from '#test/stream/reader.ts';

const POLL_MS = 200;
const PAGE = 50;

/** Milliseconds below which this share of the lags is. */
const percentile = (lags: readonly number[], share: number): number =>
  lags.toSorted((a, b) => a - b)[Math.floor(lags.length * share)] ?? 0;

/**
 * Makes a copy of the catalogue from the stream while anything happens to the fleet. A page whose reading or copying fails is
 * read again. It ends with its scope.
 */
export const followStream = (sql: Database) => {
  const copy = aCopy(sql);
  const lags: number[] = [];
  let place = '';
  let isOver = false;
  /** The last page was empty: the events of the next one waited for no copying of this reader. */
  let isAtEnd = false;
  /** @returns false at the end of the stream */
  const readPage = async (): Promise<boolean> => {
    const { list, next } = await listStream(sql, { after: place, limit: PAGE, types: [] }, format);
    const now = Date.now();
    if (isAtEnd) lags.push(...list.map(({ timestamp }) => now - Date.parse(timestamp)));
    for (const event of list) await copy.apply(event);
    isAtEnd = list.length === 0;
    place = next;
    return !isAtEnd;
  };
  const follow = async (): Promise<void> => {
    while (!isOver) {
      const hasMore = await readPage().catch(() => false);
      if (!hasMore) await sleep(POLL_MS);
    }
  };
  const following = follow();
  const stop = async (): Promise<void> => {
    isOver = true;
    await following;
  };
  return {
    /** Reads to the end. @returns the games that the copy and the tables have differently, in words */
    findDifferences: async (): Promise<string[]> => {
      await stop();
      while (await readPage());
      const [copied, stored] = [copy.games(), await readCatalogue(sql)];
      const wrong = [...new Set([...Object.keys(copied), ...Object.keys(stored)])].filter(
        (game_id) => !isDeepStrictEqual(copied[game_id], stored[game_id]),
      );
      const show = (game_id: string) =>
        `copy: ${JSON.stringify(copied[game_id])} table: ${JSON.stringify(stored[game_id])}`;
      return [
        ...wrong.slice(0, 3).map(show),
        ...(Object.keys(stored).length === 0 || Number(place) === 0 ? ['the stream has no event'] : []),
      ];
    },
    /** How late events came, from their writing on, to a reader who had read all before: since this function was called last. */
    takeLag: () => {
      const taken = lags.splice(0);
      return { events: taken.length, p50: percentile(taken, 0.5), p95: percentile(taken, 0.95) };
    },
    [Symbol.asyncDispose]: stop,
  };
};
