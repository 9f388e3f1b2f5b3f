import { defineChannel } from '#src/lib/channel.ts';

/** A record that was sealed and stored: ids, no value. */
export type SealedRecordIds = { application_id: string; record_id: string };

/**
 * Publishes each record that this process stored, after the commit; the worker's log subscribes. A check of sanctions lists
 * or company registers would begin here. It gets the ids, and opens the record in a process of its own that has the keys.
 */
export const recordSealed = defineChannel<SealedRecordIds>('catalogue.kyc-record-sealed');
