import type { Queryable } from '#db/client.ts';
import type { DeliveryRow } from '#db/queries/event-deliveries.ts';
import type { EventRow } from '#db/queries/events.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow } from '#db/rows.ts';
import { where } from '#db/where.ts';

/** An event with its delivery. If it has none, because it is only pulled, every field of the delivery is null. */
export type EventItem = Pick<
  EventRow,
  'event_id' | 'application_id' | 'type' | 'game_id' | 'data' | 'created_at'
> & {
  [Field in keyof Omit<DeliveryRow, 'event_id' | 'application_id' | 'requested_at'>]:
    | DeliveryRow[Field]
    | null;
};

const columns = (sql: Queryable) => sql`
  e.event_id, e.application_id, e.type, e.game_id, e.data, e.created_at,
  d.state, d.attempts, d.last_attempt_at, d.last_status, d.last_error, d.delivered_at,
  case when d.state = 'pending' then d.next_attempt_at end as next_attempt_at`;

/** Which events: those with deliveries in this state; `pulled`: without one. */
export const EVENT_STATES = ['pending', 'delivered', 'failed', 'pulled'] as const;
export type EventFilter = {
  application_id?: string | undefined;
  type?: EventRow['type'] | undefined;
  state?: (typeof EVENT_STATES)[number] | undefined;
  since?: Date | undefined;
};

/** Reads one page of the events. */
export const listEventPage = (
  sql: Queryable,
  { application_id, type, state, since }: EventFilter,
  page: ListPage<'created_at'>,
) =>
  readListPage<EventItem>(sql, page, {
    columns: columns(sql),
    // Only `events_application` has this order: db/queries/api-games.ts explains the array comparison. By the
    // primary key Postgres would read the newer events of all other applications.
    from: sql`events e left join event_deliveries d using (event_id) ${where(sql, [
      application_id !== undefined && sql`e.application_id = any (array[${application_id}])`,
      type && sql`e.type = ${type}`,
      since && sql`e.created_at >= ${since}`,
      state && (state === 'pulled' ? sql`d.state is null` : sql`d.state = ${state}`),
    ])}`,
    // Ids are UUIDs of version 7, so the primary key has the order of the times.
    sort_by: sql`e.event_id`,
    id: sql`e.event_id`,
    ...(application_id !== undefined && { lead: sql`e.application_id` }),
  });

export const findEvent = (sql: Queryable, event_id: string) =>
  firstRow(sql<EventItem[]>`
    select ${columns(sql)} from events e left join event_deliveries d using (event_id)
    where e.event_id = ${event_id}`);
