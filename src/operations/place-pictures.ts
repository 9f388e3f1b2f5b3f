import { setTimeout as sleep } from 'node:timers/promises';
import { tidyPictureStore } from '#src/ingest/specs.ts';
import type { Context, Platform } from '#src/operations/operation.ts';

const QUEUE_MS = 2_000;

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
  const add = async () => (await producer()).add(tidyPictureStore, of);
  await Promise.race([add(), sleep(QUEUE_MS, undefined, { ref: false })]).catch(() => {});
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
