import { setTimeout as sleep } from 'node:timers/promises';
import { tidyPictureStore } from '#src/ingest/specs.ts';
import type { Platform } from '#src/operations/operation.ts';

const QUEUE_MS = 2_000;

/**
 * Has the pictures of decided games moved in the store now. If the queue does not answer, their next check moves them: the
 * decision stands, and a check of its pictures is due at once.
 */
export const placePictures = async (
  { keepsPictures, producer }: Pick<Platform, 'keepsPictures' | 'producer'>,
  game_ids: string[],
): Promise<void> => {
  if (!keepsPictures || game_ids.length === 0) return;
  const add = async () => (await producer()).add(tidyPictureStore, { game_ids });
  await Promise.race([add(), sleep(QUEUE_MS, undefined, { ref: false })]).catch(() => {});
};
