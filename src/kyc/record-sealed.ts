import { channel } from 'node:diagnostics_channel';

/** A record that was sealed and stored: ids, no value. */
export type SealedRecordIds = { application_id: string; record_id: string };

/**
 * Publishes each record that this process stored, after the commit; the worker's log subscribes. A check of sanctions lists
 * or company registers would begin here: it gets the ids, and opens the record in a process of its own that has the keys.
 */
const CHANNEL = channel('catalogue.kyc-record-sealed');

export const recordSealed = {
  publish: (ids: SealedRecordIds): void => CHANNEL.publish(ids),
  /** @returns a function that ends the subscription */
  subscribe: (listener: (ids: SealedRecordIds) => void): (() => void) => {
    const onMessage = (ids: unknown): void => listener(ids as SealedRecordIds);
    CHANNEL.subscribe(onMessage);
    return () => void CHANNEL.unsubscribe(onMessage);
  },
};
