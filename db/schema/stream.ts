import { sql } from 'drizzle-orm';
import {
  bigint,
  index,
  integer,
  jsonb,
  pgSequence,
  pgTable,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { addressTexts, healthColumns, secretColumns } from '#db/schema/address-health.ts';
import {
  areCounts,
  areKeys,
  areLists,
  areOf,
  areShort,
  areTimes,
  isOneOf,
  moment,
} from '#db/schema/columns.ts';
import {
  EVENT_WEBHOOK_STATUSES,
  type KycState,
  STREAM_TYPES,
  type VERDICT_ENDINGS,
  type Verdict,
} from '#src/contract/words.ts';

/** Facts of `kyc.changed`, `kyc.verdict` and `run.suspect`, which only the platform's stream has. */
export type StreamFacts =
  | { state: KycState; changed_fields: string[] }
  | { verdict: Verdict; verdict_state: 'standing' | (typeof VERDICT_ENDINGS)[number] }
  | { run_id: string };

/** Most events of one row, which has a range of 1,000 positions. */
const EVENTS_A_ROW = 1_000;

export const streamPositions = pgSequence('stream_positions', { increment: EVENTS_A_ROW });

/**
 * The platform's stream: events of one type, written by triggers in the statement of the change. A row has all new games of
 * a statement, because a row for each would cost a new game a sixth of its work in Postgres. Positions are assigned after
 * the commit (`placeEvents`), as for `events`. Events that applications get too have their data in `events`. No foreign keys,
 * because a row stays as long as readers may need it.
 */
export const streamEvents = pgTable(
  'stream_events',
  {
    /** The order in which rows were written. */
    event_number: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    /** The id in `events` of the only event. Null: ids are made of positions (`readStream`). */
    event_id: uuid(),
    type: text({ enum: STREAM_TYPES }).notNull(),
    /** Null: that of the game. */
    application_id: text(),
    /** The number of events of the row. */
    size: smallint().notNull().default(1),
    /** The game of each event, with its revision. Null: the event is not about a game. */
    game_ids: uuid().array(),
    revisions: integer().array(),
    facts: jsonb().$type<StreamFacts>(),
    created_at: moment('created_at').notNull().default(sql`clock_timestamp()`),
    /** The position of the row's last event; its other events have the positions before it. Null until it is assigned. */
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
    ...secretColumns(),
    /** Every event up to this position is delivered, or of another type. */
    position: bigint({ mode: 'number' }).notNull(),
    ...healthColumns(),
    created_at: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    isOneOf('event_subscriptions_status', table.status, EVENT_WEBHOOK_STATUSES),
    areCounts('event_subscriptions_counts', table.failures, table.position),
    areShort('event_subscriptions_texts', [...addressTexts(table), table.types]),
    areTimes('event_subscriptions_times', table.failing_since),
    areLists('event_subscriptions_lists', [table.types]),
    areOf('event_subscriptions_types', table.types, STREAM_TYPES),
    areKeys('event_subscriptions_secret_keys', table.secret_keys),
  ],
);
