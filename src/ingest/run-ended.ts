import { channel } from 'node:diagnostics_channel';
import type { RunRow } from '#db/queries/runs.ts';

/** Publishes each run that this process closed, after the commit: logs and metrics subscribe. */
const CHANNEL = channel('catalogue.run-ended');

export const runEnded = {
  publish: (run: RunRow): void => CHANNEL.publish(run),
  /** @returns a function that ends the subscription */
  subscribe: (listener: (run: RunRow) => void): (() => void) => {
    const onMessage = (run: unknown): void => listener(run as RunRow);
    CHANNEL.subscribe(onMessage);
    return () => void CHANNEL.unsubscribe(onMessage);
  },
};
