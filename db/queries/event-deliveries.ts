import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { SentEvent } from '#db/queries/events.ts';
import { onlyValue, readColumn } from '#db/rows.ts';
import type { eventDeliveries } from '#db/schema/events.ts';
import { COUNTED_MAX } from '#src/rules/budgets.ts';

export type DeliveryRow = InferSelectModel<typeof eventDeliveries>;

/** Lists at most `limit` applications that have an event to send now. Reads one row of each application with a pending event. */
export const listDueApplications = (sql: Queryable, limit: number) =>
  readColumn(sql<{ application_id: string }[]>`
    with recursive waiting as (
      (select application_id from event_deliveries where state = 'pending' order by application_id limit 1)
      union all
      select (select d.application_id from event_deliveries d
              where d.state = 'pending' and d.application_id > w.application_id order by d.application_id limit 1)
      from waiting w where w.application_id is not null
    )
    select w.application_id from waiting w join event_webhooks using (application_id)
    where status = 'active' and next_attempt_at <= now() and exists (
      select from event_deliveries d
      where d.application_id = w.application_id and d.state = 'pending' and d.next_attempt_at <= now())
    order by next_attempt_at limit ${limit}`);

/** An event that this worker sends. `age_ms`: the time since its delivery was requested. */
export type ClaimedDelivery = SentEvent & Pick<DeliveryRow, 'attempts'> & { age_ms: number };

/** Takes events that are due, oldest first. For `leaseMs` no other worker takes them. */
export const claimDeliveries = (sql: Queryable, application_id: string, limit: number, leaseMs: number) =>
  sql<ClaimedDelivery[]>`
    update event_deliveries d
    set attempts = least(d.attempts, ${COUNTED_MAX}) + 1, last_attempt_at = now(),
        next_attempt_at = now() + ${leaseMs} * interval '1 millisecond'
    from events e
    where e.event_id = d.event_id and d.event_id = any(array(
      select event_id from event_deliveries
      where application_id = ${application_id} and state = 'pending' and next_attempt_at <= now()
      order by next_attempt_at, event_id limit ${limit} for update skip locked))
    returning e.event_id, e.type, e.data, e.created_at, d.attempts,
              (extract(epoch from now() - d.requested_at) * 1000)::float8 as age_ms`;

/** The result of one attempt. `wait_ms`: until the next one; null: there is none. */
export type AttemptResult = {
  event_id: string;
  status: number | null;
  /** Null: delivered. */
  error: string | null;
  wait_ms: number | null;
};

/** Records attempts. A delivery that another worker has recorded as delivered stays delivered. */
export const recordAttempts = async (tx: Queryable, results: readonly AttemptResult[]): Promise<void> => {
  await tx`
    update event_deliveries d
    set state = case when r.error is null then 'delivered' when r.wait_ms is null then 'failed' else 'pending' end,
        delivered_at = case when r.error is null then now() end, last_status = r.status, last_error = r.error,
        next_attempt_at = now() + coalesce(r.wait_ms, 0) * interval '1 millisecond'
    from unnest(
      ${results.map((each) => each.event_id)}::uuid[], ${results.map((each) => each.status)}::int[],
      ${results.map((each) => each.error)}::text[], ${results.map((each) => each.wait_ms)}::bigint[]
    ) as r(event_id, status, error, wait_ms)
    where d.event_id = r.event_id and d.state = 'pending'`;
};

/** Returns claimed events whose attempt was cancelled; the attempt does not count. */
export const releaseDeliveries = async (sql: Queryable, event_ids: readonly string[]): Promise<void> => {
  await sql`
    update event_deliveries set attempts = greatest(attempts - 1, 0), next_attempt_at = now()
    where event_id = any(${event_ids as string[]}::uuid[]) and state = 'pending'`;
};

/**
 * Marks the pending deliveries of an application that are older than `olderThanMs` as failed, also those that were requested
 * since the transaction began.
 */
export const failDeliveries = async (
  tx: Queryable,
  application_id: string,
  error: string,
  olderThanMs = 0,
): Promise<void> => {
  await tx`
    update event_deliveries set state = 'failed', last_error = coalesce(last_error, ${error})
    where application_id = ${application_id} and state = 'pending'
      and requested_at <= clock_timestamp() - ${olderThanMs} * interval '1 millisecond'`;
};

/** Writes a test event of an application, to be sent now. @returns its id */
export const insertTestEvent = (tx: Queryable, application_id: string): Promise<string> =>
  onlyValue(tx<{ event_id: string }[]>`select send_test_event(${application_id}) as event_id`);

/** One request sends at most this many events: the oldest ones. */
export const DELIVERIES_MAX = 10_000;

/** Counts the events since the first address was set that no further attempt sends; at most `DELIVERIES_MAX`. */
export const countUndelivered = (sql: Queryable, application_id: string): Promise<number> =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from events e join event_webhooks w using (application_id) left join event_deliveries d using (event_id)
      where e.application_id = ${application_id} and e.created_at >= w.created_at and coalesce(d.state, 'failed') = 'failed'
      limit ${DELIVERIES_MAX}
    ) as undelivered`);

/**
 * `event_ids`: these events. `since`: every event since a time, delivered ones too. Neither: every undelivered event since
 * the first address was set.
 */
type WantedEvents = { event_ids?: readonly string[] | undefined; since?: Date | undefined };

const isWanted = (sql: Queryable, { event_ids, since }: WantedEvents) => {
  if (event_ids !== undefined) return sql`e.event_id = any(${event_ids as string[]}::uuid[])`;
  if (since !== undefined) return sql`e.created_at >= ${since}`;
  return sql`d.state is distinct from 'delivered' and e.created_at >= event_webhooks.created_at`;
};

/** Sends events of an application again, from now on for another 24 hours. @returns how many */
export const requestDeliveries = (
  tx: Queryable,
  application_id: string,
  wanted: WantedEvents,
): Promise<number> =>
  onlyValue(tx<{ count: number }[]>`
    with wanted as (
      select e.event_id, e.application_id from events e join event_webhooks using (application_id)
        left join event_deliveries d using (event_id)
      where e.application_id = ${application_id} and ${isWanted(tx, wanted)}
      order by e.event_id limit ${DELIVERIES_MAX}
    ), written as (
      insert into event_deliveries as d (event_id, application_id) select event_id, application_id from wanted
      on conflict (event_id) do update
        set state = 'pending', attempts = 0, requested_at = now(), next_attempt_at = now(), delivered_at = null,
            last_error = null, last_status = null
      returning event_id
    )
    select count(*)::int as count from written`);
