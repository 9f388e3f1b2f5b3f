import { channel } from 'node:diagnostics_channel';
import type { PictureOutcome } from '#src/contract/pictures.ts';

/** A request for a picture that ended. */
export type PictureRequested = {
  /** `unchanged`: a conditional request, answered with 304 or with the same bytes. */
  outcome: PictureOutcome | 'unchanged';
  /** For a look, or for the check of a decided picture. */
  purpose: 'look' | 'check';
  /** Passed games that it returned to `pending`. */
  drifted: number;
};

const CHANNEL = channel('catalogue.picture-requested');

export const pictureRequested = {
  publish: (event: PictureRequested): void => CHANNEL.publish(event),
  /** @returns a function that removes the listener */
  subscribe: (listener: (event: PictureRequested) => void): (() => void) => {
    const onMessage = (event: unknown): void => listener(event as PictureRequested);
    CHANNEL.subscribe(onMessage);
    return () => void CHANNEL.unsubscribe(onMessage);
  },
};
