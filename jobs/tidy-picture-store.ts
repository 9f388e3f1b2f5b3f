import { listPinnedPictures } from '#db/queries/picture-pins.ts';
import { tidyPictureStore } from '#src/ingest/specs.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { defineJob } from '#src/queue/job.ts';

/** Moves the bytes of decided games to where the store should have them, and deletes what no decision names. */
export const tidyPictureStoreJob = defineJob(
  tidyPictureStore,
  async ({ game_ids, application_id }, { deps, signal }: MediaContext) => {
    const { sql, keeper } = deps;
    if (keeper === undefined) return { games: 0 };
    if (game_ids === undefined) return keeper.tidy(signal, application_id);
    await keeper.place(await listPinnedPictures(sql, game_ids));
    return { games: game_ids.length };
  },
);
