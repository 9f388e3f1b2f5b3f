import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchPictures, PICTURED_GAMES_MAX, tidyPictureStore } from '#src/ingest/specs.ts';
import type { Context, Platform } from '#src/operations/operation.ts';
import type { Producer } from '#src/queue/producer.ts';

const QUEUE_MS = 2_000;

/** Adds jobs, unless the queue does not answer in time. */
const addInTime = async (add: () => Promise<unknown>): Promise<void> => {
  await Promise.race([add(), sleep(QUEUE_MS, undefined, { ref: false })]).catch(() => {});
};

/** Adds the job that fetches the pictures of games, unless the same job waits. */
export const addFetchJob = async (
  producer: Producer,
  game_ids: string[],
  icons_only: boolean,
): Promise<void> => {
  const once = `${icons_only ? 'icons' : 'all'}-${hash('sha256', game_ids.join())}`;
  await producer.add(fetchPictures, { game_ids, icons_only }, { once });
};

/** Adds jobs that fetch the pictures of games that were not passed without them, because maybe no page shows these games. */
export const fetchAwaited = async (
  { producer }: Pick<Platform, 'producer'>,
  game_ids: readonly string[],
): Promise<void> => {
  if (game_ids.length === 0) return;
  await addInTime(async () => {
    const opened = await producer();
    for (let from = 0; from < game_ids.length; from += PICTURED_GAMES_MAX)
      await addFetchJob(opened, game_ids.slice(from, from + PICTURED_GAMES_MAX), false);
  });
};

/**
 * Adds the job that moves the pictures of games, or of all games of an application, to their place in the store. If the
 * queue does not answer, the change stands, and a later job moves them: the check that is due after a decision or a
 * release, or the hourly job for the whole store.
 */
export const placePictures = async (
  { keepsPictures, producer }: Pick<Platform, 'keepsPictures' | 'producer'>,
  of: { game_ids: string[] } | { application_id: string },
): Promise<void> => {
  if (!keepsPictures || ('game_ids' in of && of.game_ids.length === 0)) return;
  await addInTime(async () => (await producer()).add(tidyPictureStore, of));
};

/** The `after` of operations on an application that change which of its games are live. */
export const placePicturesOf = async <Result extends { application_id: string }>(
  result: Result,
  _: unknown,
  platform: Context,
): Promise<Result> => {
  await placePictures(platform, { application_id: result.application_id });
  return result;
};
