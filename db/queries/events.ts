import type { InferSelectModel } from 'drizzle-orm';
import type { Database, Queryable } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { countRows, firstRow, readValue } from '#db/rows.ts';
import type { events } from '#db/schema/events.ts';

export type EventRow = InferSelectModel<typeof events>;
/** What leaves the platform of an event. */
export type SentEvent = Pick<EventRow, 'event_id' | 'type' | 'data' | 'created_at'>;

/** Events that one transaction places: its lock makes other readers wait. */
const PLACED_AT_ONCE = 10_000;

/**
 * Give every committed event its position. Positions are assigned by one transaction at a time, in its own commit: a
 * reader who sees a position sees all smaller ones that ever appear. An event whose transaction commits later gets a
 * later position.
 */
export const placeEvents = async (sql: Database): Promise<void> => {
  for (let placed = PLACED_AT_ONCE; placed === PLACED_AT_ONCE; ) {
    const waiting = await firstRow(sql`select from events where position is null limit 1`);
    if (waiting === undefined) return;
    placed = await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCKS.eventPositions})`;
      // A new statement sees what the transaction before this one has placed.
      return countRows(tx`
        update events e set position = placed.position
        from (
          select event_id, nextval('event_positions') as position
          from (select event_id from events where position is null order by event_number
                limit ${PLACED_AT_ONCE}) waiting
        ) placed
        where e.event_id = placed.event_id`);
    });
  }
};

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
 * Delete events older than `keepMs`. The last of them stays: a reader who stopped there has missed nothing.
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
