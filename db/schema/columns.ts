import { customType, timestamp } from 'drizzle-orm/pg-core';

/** Binary columns: hashes and sealed values. */
export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/** A time with its time zone. */
export const moment = (name: string) => timestamp(name, { withTimezone: true });

/** The words that a row is found by. */
export const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
