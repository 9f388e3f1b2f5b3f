import { sql } from 'drizzle-orm';
import {
  bigint,
  foreignKey,
  index,
  integer,
  jsonb,
  pgSequence,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { addressTexts, healthColumns, secretColumns } from '#db/schema/address-health.ts';
import { applicationId } from '#db/schema/applications.ts';
import { areCounts, areKeys, areShort, areTimes, isOneOf, moment } from '#db/schema/columns.ts';
import { DELIVERY_STATES, EVENT_TYPES, EVENT_WEBHOOK_STATUSES, type EventWhy } from '#src/contract/words.ts';

/**
 * The data of an event, with the field names of section 2. `audit_time` is ISO 8601 in UTC here; src/events/document.ts
 * converts it to the platform's format and zone. There is a reason only if the game is rejected.
 */
export type EventData = {
  game_id: string;
  application_game_id: string;
  game_name: string;
  audit_status: 'pending' | 'passed' | 'rejected';
  audit_time: string;
  revision: number;
  why: EventWhy;
  /** A code of `reasons`, and its label; "" if there is none. */
  reason?: string;
  reason_label?: string;
  /** The operator's text: of a rejection, a message, or the decision on an appeal. */
  text?: string;
};

export const eventPositions = pgSequence('event_positions');

/**
 * The outbox: one row for each change of a game's status, message, refused appeal and test of an address, written by
 * `send_event` or `send_test_event` in the transaction of the change. Transactions commit in any order, so the order of
 * readers is `position`, which is assigned after the commit (`placeEvents`). No foreign key to `games`, because no process
 * deletes a game.
 */
export const events = pgTable(
  'events',
  {
    /** UUID v7, also the `webhook-id`. */
    event_id: uuid().primaryKey(),
    /** The order in which events were written. Of one game, it is the order of the changes; the clock may be set back. */
    event_number: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    application_id: text().notNull(),
    type: text({ enum: EVENT_TYPES }).notNull(),
    game_id: uuid().notNull(),
    data: jsonb().$type<EventData>().notNull(),
    created_at: moment('created_at').notNull(),
    /** Null until it is assigned. */
    position: bigint({ mode: 'number' }),
  },
  (table) => [
    uniqueIndex('events_position').on(table.application_id, table.position),
    index('events_without_position').on(table.event_number).where(sql`${table.position} is null`),
    index('events_game').on(table.game_id),
    unique('events_application').on(table.application_id, table.event_id),
    index('events_created').using('brin', table.created_at),
    isOneOf('events_type', table.type, EVENT_TYPES),
  ],
);

/** Where an application's events are sent, with the secret that signs them, and the health of the address. */
export const eventWebhooks = pgTable(
  'event_webhooks',
  {
    application_id: applicationId().primaryKey(),
    url: text().notNull(),
    ...secretColumns(),
    ...healthColumns(),
    created_at: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    isOneOf('event_webhooks_status', table.status, EVENT_WEBHOOK_STATUSES),
    areCounts('event_webhooks_counts', table.failures),
    areShort('event_webhooks_texts', addressTexts(table)),
    areTimes('event_webhooks_times', table.failing_since),
    areKeys('event_webhooks_secret_keys', table.secret_keys),
  ],
);

/** The delivery of an event to the address of its application. No row: the event is only pulled. */
export const eventDeliveries = pgTable(
  'event_deliveries',
  {
    event_id: uuid().primaryKey(),
    application_id: text().notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull().default('pending'),
    attempts: integer().notNull().default(0),
    /** Attempts end 24 hours later. `event retry` sets it again. */
    requested_at: moment('requested_at').notNull().defaultNow(),
    /** While a worker sends the event, the time from which another worker may. */
    next_attempt_at: moment('next_attempt_at').notNull().defaultNow(),
    last_attempt_at: moment('last_attempt_at'),
    /** HTTP status of the last response; null without one. */
    last_status: integer(),
    /** Code of the last failure; null after a success. */
    last_error: text(),
    delivered_at: moment('delivered_at'),
  },
  (table) => [
    // Both columns, so that no process sends an event to another application.
    foreignKey({
      name: 'event_deliveries_event',
      columns: [table.application_id, table.event_id],
      foreignColumns: [events.application_id, events.event_id],
    }).onDelete('cascade'),
    index('event_deliveries_due')
      .on(table.application_id, table.next_attempt_at)
      .where(sql`state = 'pending'`),
    index('event_deliveries_failed').on(table.application_id).where(sql`state = 'failed'`),
    isOneOf('event_deliveries_state', table.state, DELIVERY_STATES),
    areCounts('event_deliveries_counts', table.attempts, table.last_status),
    areShort('event_deliveries_texts', [table.last_error]),
    areTimes('event_deliveries_times', table.requested_at),
  ],
);
