import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { countRows, isOneRow, readValue } from '#db/rows.ts';
import type { events } from '#db/schema/events.ts';

export type EventRow = InferSelectModel<typeof events>;
/** What leaves the platform of an event. */
export type SentEvent = Pick<EventRow, 'event_id' | 'type' | 'data' | 'created_at'>;

/**
 * The tables of events whose positions are assigned after the commit, with their sequences and locks. A row of the stream has
 * several events, and its position is that of the last.
 */
const LOGS = {
  events: { sequence: 'event_positions', lock: LOCKS.eventPositions, others: '0' },
  stream_events: { sequence: 'stream_positions', lock: LOCKS.streamPositions, others: 'size - 1' },
} as const;
export type EventLog = keyof typeof LOGS;

export const hasUnplacedEvents = (sql: Queryable, log: EventLog): Promise<boolean> =>
  isOneRow(sql`select from ${sql(log)} where position is null limit 1`);

/** Waits until no other transaction gives positions. */
export const lockPositions = async (tx: Queryable, log: EventLog): Promise<void> => {
  await tx`select pg_advisory_xact_lock(${LOGS[log].lock})`;
};

/** Gives the oldest committed rows without a position theirs, at most `limit`. @returns their number */
export const insertPositions = (tx: Queryable, log: EventLog, limit: number): Promise<number> =>
  countRows(tx`
    update ${tx(log)} e set position = placed.position
    from (
      select event_number, nextval(${LOGS[log].sequence}) + others as position
      from (
        select event_number, ${tx.unsafe(LOGS[log].others)} as others from ${tx(log)}
        where position is null order by event_number limit ${limit}) waiting
    ) placed
    where e.position is null and e.event_number = placed.event_number`);

/** The position after which a reader continues. @returns undefined if the application has no such event */
export const findPosition = (sql: Queryable, application_id: string, event_id: string) =>
  readValue(sql<{ position: number }[]>`
    select position from events
    where event_id = ${event_id} and application_id = ${application_id} and position is not null`);

/** The events of an application after a position (0: from the first), in their order. */
export const listEventsAfter = (sql: Queryable, application_id: string, position: number, limit: number) =>
  sql<SentEvent[]>`
    select event_id, type, data, created_at from events
    where application_id = ${application_id} and position > ${position} order by position limit ${limit}`;

/**
 * Deletes events older than `keepMs`. The last of them stays: a reader who stopped there has missed nothing.
 * @returns how many were deleted
 */
export const pruneEvents = (sql: Queryable, keepMs: number, limit: number) =>
  countRows(sql`
    delete from events where event_id in (
      select e.event_id from events e
      where e.created_at < now() - ${keepMs} * interval '1 millisecond' and exists (
        select from events later
        where later.application_id = e.application_id and later.position > e.position
          and later.created_at < now() - ${keepMs} * interval '1 millisecond')
      limit ${limit})`);
