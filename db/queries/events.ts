import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { isOneRow, onlyRow, onlyValue, readValue } from '#db/rows.ts';
import type { events } from '#db/schema/events.ts';

export type EventRow = InferSelectModel<typeof events>;
/** The columns of an event that leave the platform. */
export type SentEvent = Pick<EventRow, 'event_id' | 'type' | 'data' | 'created_at'>;

/** The tables of events whose positions are assigned after the commit. */
export type EventLog = 'events' | 'stream_events';

export const hasUnplacedEvents = (sql: Queryable, log: EventLog): Promise<boolean> =>
  isOneRow(sql`select from ${sql(log)} where position is null limit 1`);

/** Assigns positions to the oldest committed rows without one, at most `limit`. @returns their number */
export const insertPositions = (sql: Queryable, log: EventLog, limit: number): Promise<number> =>
  onlyValue(sql<{ placed: number }[]>`select place_events(${log}, ${limit}) as placed`);

/** Finds the position of the event after which a reader continues. @returns undefined if the application has no such event */
export const findPosition = (sql: Queryable, application_id: string, event_id: string) =>
  readValue(sql<{ position: number }[]>`
    select position from events
    where event_id = ${event_id} and application_id = ${application_id} and position is not null`);

/** Lists the events of an application after a position (0: from the first), in their order. */
export const listEventsAfter = (sql: Queryable, application_id: string, position: number, limit: number) =>
  sql<SentEvent[]>`
    select event_id, type, data, created_at from events
    where application_id = ${application_id} and position > ${position} order by position limit ${limit}`;

/**
 * Deletes events older than `keepMs` of the applications from `after` on. The oldest go first, so a reader whose last event
 * still exists misses none. The newest of the old events stays, so that a reader who stopped there can continue.
 *
 * Old events are found by their ids, which contain their time. One call reads about twice `limit` rows, by the indexes of
 * an application's ids and positions, and successive calls read every old event once.
 * @param limit at least 2
 * @returns how many were deleted, and the application that the next call begins with: undefined after the last one
 */
export const pruneEvents = async (
  sql: Queryable,
  keepMs: number,
  limit: number,
  after: string,
): Promise<{ deleted: number; last: string | undefined }> => {
  const end = sql`(
    lpad(to_hex((extract(epoch from now()) * 1000)::bigint - ${keepMs}::bigint), 12, '0') || repeat('0', 20))::uuid`;
  const { deleted, last } = await onlyRow(sql<{ deleted: number; last: string | null }[]>`
    with batch as materialized (
      select a.application_id, e.* from (
        select application_id from applications where application_id >= ${after} order by application_id
      ) a cross join lateral (
        select event_id, position from events e
        where e.application_id = a.application_id and position is not null
        order by position limit (
          select count(*) from (
            select from events o where o.application_id = a.application_id and o.event_id < ${end} limit ${limit}
          ) as old)
      ) e limit ${limit}
    ), ends as (
      -- A late commit may have placed an older event behind one that is not old.
      select application_id, least(max(position), min(position) filter (where event_id >= ${end})) as kept
      from batch group by application_id
    ), deleted as (
      delete from events e using batch b join ends using (application_id)
      where e.event_id = b.event_id and b.position < ends.kept returning 1
    )
    select (select count(*)::int from deleted) as deleted,
           (select max(application_id) from batch having count(*) = ${limit}) as last`);
  const isStuck = deleted === 0 && last === after;
  if (!isStuck) return { deleted, last: last ?? undefined };
  // If the first event of an application is not old, as after the clock of Postgres was set back, all its events stay until
  // that one is old.
  const next = await onlyValue(sql<{ next: string | null }[]>`
    select min(application_id) as next from applications where application_id > ${after}`);
  return { deleted, last: next ?? undefined };
};
