import type { PictureOutcome } from '#src/contract/pictures.ts';
import { defineChannel } from '#src/lib/channel.ts';

/** The result of a request that was sent for a picture. */
export type PictureRequested = {
  /** `unchanged`: the server answered 304. */
  outcome: PictureOutcome | 'unchanged';
  /** `look`: an operator is about to see the picture. `check`: decided games have it. */
  purpose: 'look' | 'check';
  /** Passed games that returned to `pending`, because the picture has other bytes than their decisions name. */
  driftedGames: number;
};

/** Publishes each request, after its result is stored: metrics subscribe. */
export const pictureRequested = defineChannel<PictureRequested>('catalogue.picture-requested');
