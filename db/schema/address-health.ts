import { type AnyPgColumn, integer, jsonb, text } from 'drizzle-orm/pg-core';
import type { WrappedKey } from '#db/schema/applications.ts';
import { bytea, moment } from '#db/schema/columns.ts';
import { EVENT_WEBHOOK_STATUSES } from '#src/contract/words.ts';

/** The secrets that sign the events of an address, each sealed with its own data key for its receiver and `url`. */
export const secretColumns = () => ({
  secret: bytea().notNull(),
  /** The secret before a rotation, which signs too until `former_until`. */
  former_secret: bytea(),
  former_until: moment('former_until'),
  /** The data keys, wrapped: of `secret`, then of `former_secret`. */
  secret_keys: jsonb().$type<WrappedKey[]>().notNull(),
});

/** The health of an address that events are sent to: of an application, or of a subscription. */
export const healthColumns = () => ({
  status: text({ enum: EVENT_WEBHOOK_STATUSES }).notNull().default('active'),
  /** Why and when it was switched off. */
  off_reason: text(),
  off_at: moment('off_at'),
  /** Failed attempts in a row, and since when. */
  failures: integer().notNull().default(0),
  failing_since: moment('failing_since'),
  /** No event is sent before this time. */
  next_attempt_at: moment('next_attempt_at').notNull().defaultNow(),
  last_attempt_at: moment('last_attempt_at'),
  last_success_at: moment('last_success_at'),
  /** The code of the last failure; null after a success. */
  last_error: text(),
});

type AddressTexts = Record<'url' | 'off_reason' | 'last_error' | 'secret' | 'former_secret', AnyPgColumn>;

/** What the size of a row of an address depends on. */
export const addressTexts = ({ url, off_reason, last_error, secret, former_secret }: AddressTexts) => [
  url,
  off_reason,
  last_error,
  secret,
  former_secret,
];
