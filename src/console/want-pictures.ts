/** Requests the pictures that an operator is about to see. */
import { addressesOf, findPictures, type PictureAddress, type PictureSet } from '#db/queries/pictures.ts';
import { isWaiting } from '#src/console/pages/pictures.ts';
import { coerceError, safeMessage } from '#src/errors.ts';
import { addFetchJob } from '#src/operations/place-pictures.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

/** A game whose pictures are wanted; without `game_store_pic`, only its icons. */
type Pictured = { game_id: string } & Parameters<typeof addressesOf>[0];

/** Most jobs that wait to be added while the queue does not respond. Further ones are dropped. */
const ADDING_MAX = 20;
let adding = 0;

const addJob = async (
  { producer, logger }: ConsoleOptions,
  game_ids: string[],
  icons_only: boolean,
): Promise<void> => {
  if (game_ids.length === 0 || adding >= ADDING_MAX) return;
  adding += 1;
  try {
    await addFetchJob(producer, game_ids, icons_only);
  } catch (thrown) {
    logger.warn({ error: safeMessage(coerceError(thrown)) }, 'pictures cannot be requested');
  } finally {
    adding -= 1;
  }
};

/**
 * Reads the pictures of games, and adds a job for games whose pictures were never requested, are stale, have lost their
 * thumbnails, or are not in the store of pictures. The page does not wait for the job.
 * @param games those that are looked at first come first
 * @param others further pictures to read
 */
export const wantPictures = async (
  options: ConsoleOptions,
  games: readonly Pictured[],
  others: readonly PictureAddress[] = [],
): Promise<PictureSet> => {
  const pictures = await findPictures(options.sql, [...games.flatMap(addressesOf), ...others]);
  const isWanted = (address: PictureAddress): boolean => {
    const picture = pictures.get(address);
    const isUnstored = options.keepsPictures && picture?.outcome === 'shown' && !picture.is_stored;
    return picture === undefined || isWaiting(picture) || picture.stale || isUnstored;
  };
  for (const icons_only of [false, true]) {
    const wanted = games.filter(
      (game) => (game.game_store_pic === undefined) === icons_only && addressesOf(game).some(isWanted),
    );
    const game_ids = wanted.map(({ game_id }) => game_id);
    void addJob(options, game_ids, icons_only);
  }
  return pictures;
};
