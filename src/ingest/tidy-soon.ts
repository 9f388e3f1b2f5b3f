import { tidyPictureStore } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

/** Has the pictures of decided games moved in the store now; without it, their next check does. */
export const tidySoon = async (producer: Producer, game_ids: readonly string[]): Promise<void> => {
  if (game_ids.length > 0) await producer.add(tidyPictureStore, { game_ids: [...game_ids] });
};
