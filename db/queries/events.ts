import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { countRows, isOneRow, onlyValue, readValue } from '#db/rows.ts';
import type { events } from '#db/schema/events.ts';

export type EventRow = InferSelectModel<typeof events>;
/** What leaves the platform of an event. */
export type SentEvent = Pick<EventRow, 'event_id' | 'type' | 'data' | 'created_at'>;

/** The tables of events whose positions are assigned after the commit. */
export type EventLog = 'events' | 'stream_events';

export const hasUnplacedEvents = (sql: Queryable, log: EventLog): Promise<boolean> =>
  isOneRow(sql`select from ${sql(log)} where position is null limit 1`);

/** Gives the oldest committed rows without a position theirs, at most `limit`. @returns their number */
export const insertPositions = (sql: Queryable, log: EventLog, limit: number): Promise<number> =>
  onlyValue(sql<{ placed: number }[]>`select place_events(${log}, ${limit}) as placed`);

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
 * Deletes events older than `keepMs`, in their order: a place that is still there misses no event. The last of them stays:
 * a reader who stopped there has missed nothing.
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
      order by e.position limit ${limit})`);
