import { customType, timestamp } from 'drizzle-orm/pg-core';

/** Bytes: hashes and sealed values. */
export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/** A moment in time, always with its zone. */
export const moment = (name: string) => timestamp(name, { withTimezone: true });
