import type { Database } from '#db/client.ts';
import type { PictureKeeper } from '#src/pictures/keeper.ts';
import type { Pictures } from '#src/pictures/refresh.ts';
import type { JobContext } from '#src/queue/job.ts';

/** What the handlers of picture jobs work with; built once by the media process. No key and no token. */
export type MediaDependencies = {
  sql: Database;
  pictures: Pictures;
  /** Absent: no PICTURE_STORE. */
  keeper: PictureKeeper | undefined;
  /** PICTURE_RECHECK */
  recheckMs: number;
};

export type MediaContext = JobContext<MediaDependencies>;
