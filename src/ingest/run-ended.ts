import { channel } from 'node:diagnostics_channel';
import type { RunRow } from '#db/queries/runs.ts';

/**
 * Told of every run that this process closed, once that is committed: for those who count runs, so that what
 * ends them need not know who counts. Costs nothing while nobody listens.
 */
const CHANNEL = channel('catalogue.run-ended');

export const runEnded = {
  publish: (run: RunRow): void => CHANNEL.publish(run),
  /** @returns how to stop listening */
  subscribe: (listener: (run: RunRow) => void): (() => void) => {
    const onMessage = (run: unknown): void => listener(run as RunRow);
    CHANNEL.subscribe(onMessage);
    return () => void CHANNEL.unsubscribe(onMessage);
  },
};
