import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, jsonb, pgSequence, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { healthColumns } from '#db/schema/address-health.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { bytea, moment } from '#db/schema/columns.ts';
import { type KycState, STREAM_TYPES } from '#src/contract/words.ts';

/** What only the platform's stream tells, besides ids: of `kyc.changed`, of `run.suspect`. */
export type StreamFacts = { state: KycState; changed_fields: string[] } | { run_id: string };

export const streamPositions = pgSequence('stream_positions');

/**
 * The platform's stream: one row for each event of any application, written by triggers in the statement of the change.
 * Positions are assigned after the commit (`placeStream`), as for `events`. The table has few columns and indexes, because
 * each new game writes a row. Of an event that applications get, `events` has the rest. No foreign keys: a row
 * stays as long as readers may need it.
 */
export const streamEvents = pgTable(
  'stream_events',
  {
    /** The order in which events were written. */
    event_number: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    /** The id in `events`. Null: the id is made of the number (`readStream`). */
    event_id: uuid(),
    type: text({ enum: STREAM_TYPES }).notNull(),
    /** Null: that of the game. */
    application_id: text(),
    /** Null: the event is not about a game. */
    game_id: uuid(),
    revision: integer(),
    facts: jsonb().$type<StreamFacts>(),
    created_at: moment('created_at').notNull().default(sql`clock_timestamp()`),
    /** Null until it is assigned. */
    position: bigint({ mode: 'number' }).unique('stream_events_position'),
  },
  (table) => [
    index('stream_events_without_position').on(table.event_number).where(sql`${table.position} is null`),
  ],
);

/** Subscriptions of the stream: where it is sent, how far it was delivered, and the health of the address. */
export const eventSubscriptions = pgTable(
  'event_subscriptions',
  {
    /** UUID v7. */
    subscription_id: uuid().primaryKey(),
    url: text().notNull(),
    /** Empty: all types. */
    types: text({ enum: STREAM_TYPES }).array().notNull(),
    /** Sealed with a data key for this subscription and `url`; `secret_keys` stores the data key wrapped. */
    secret: bytea().notNull(),
    secret_keys: jsonb().$type<WrappedKey[]>().notNull(),
    /** Every event up to this position is delivered, or of another type. */
    position: bigint({ mode: 'number' }).notNull(),
    ...healthColumns(),
    created_at: moment('created_at').notNull().defaultNow(),
  },
  () => [check('event_subscriptions_status', sql`status in ('active', 'off')`)],
);
