/** Fills the store with pictures of games that passed before there was one, or that it lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, readTime } from '#db/client.ts';
import {
  countUnrequested,
  listMissing,
  type MissingPicture,
  requestSoon,
} from '#db/queries/missing-pictures.ts';
import { CatalogueError } from '#src/errors.ts';

/** Games whose pictures are requested at once. */
const GAMES = 500;
const POLL_MS = 500;
const FIRST = '00000000-0000-0000-0000-000000000000';

type Backfill = { sql: Database; signal: AbortSignal };
type Followed = Backfill & {
  /** Called with the number of further games that are done. */
  onGames?: (games: number) => void;
  /** If no picture is requested for this long, the next games follow. */
  stallMs?: number;
};

/** Yields the pictures of passed games that are not in the store, of `limit` games at a time. */
async function* missingPictures({ sql, signal }: Backfill, limit: number) {
  for (let after: string | null = FIRST; after !== null; ) {
    signal.throwIfAborted();
    const { last, ...batch } = await listMissing(sql, { after, limit });
    yield batch;
    after = last;
  }
}

/** Finds the missing pictures. @param onMissing called with each part of them @returns how many there are */
export const findMissing = async (
  options: Backfill,
  onMissing: (pictures: readonly MissingPicture[]) => void = () => {},
): Promise<number> => {
  let count = 0;
  for await (const { missing } of missingPictures(options, 10 * GAMES)) {
    count += missing.length;
    onMissing(missing);
  }
  return count;
};

/**
 * Makes the media process request every missing picture, and waits for it. It can be stopped and started again, because
 * what the store has by then is not requested again.
 * @returns how many pictures were requested
 * @throws CatalogueError if no media process requests a picture; the reason of the signal
 */
export const backfillPictures = async ({
  sql,
  signal,
  onGames = () => {},
  stallMs = 120_000,
}: Followed): Promise<number> => {
  const since = await readTime(sql);
  let requested = 0;
  for await (const { missing, games } of missingPictures({ sql, signal }, GAMES)) {
    const ids = [...new Set(missing.map(({ picture_id }) => picture_id))];
    await requestSoon(sql, ids, since);
    let left = ids.length;
    for (let movedAt = performance.now(); left > 0 && performance.now() - movedAt < stallMs; ) {
      await sleep(POLL_MS, undefined, { signal });
      const now = await countUnrequested(sql, ids, since);
      if (now < left) movedAt = performance.now();
      left = now;
    }
    requested += ids.length - left;
    if (requested === 0 && left > 0)
      throw new CatalogueError(
        'No media process requests pictures. Start one (npx catalogue media), then run npx catalogue picture backfill again.',
      );
    onGames(games);
  }
  return requested;
};
