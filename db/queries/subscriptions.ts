/** Subscriptions of the platform's stream. */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import {
  type ADDRESS_CONDITIONS,
  addressIs,
  addressIsHealthy,
  sendingColumns,
} from '#db/queries/event-webhooks.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, isOneRow, onlyValue, readColumn } from '#db/rows.ts';
import type { eventSubscriptions } from '#db/schema/stream.ts';
import { where } from '#db/where.ts';

type SubscriptionRow = InferSelectModel<typeof eventSubscriptions>;

/** A subscription without its secrets. `waiting`: events after its position, counted up to 10,000. */
export type Subscription = Omit<SubscriptionRow, 'secret' | 'former_secret' | 'secret_keys'> & {
  waiting: number;
};
export type SealedSubscription = Pick<
  SubscriptionRow,
  'subscription_id' | 'url' | 'types' | 'secret' | 'secret_keys'
>;

const WAITING_MAX = 10_000;

/** All columns but the secrets, which the console's database role may not read. */
const publicColumns = (sql: Queryable) => sql`
  subscription_id, url, types, position, former_until, status, off_reason, off_at, failures, failing_since, next_attempt_at,
  last_attempt_at, last_success_at, last_error, created_at,
  (select least(coalesce(sum(waiting), 0), ${WAITING_MAX})::int from (
    select least(e.size, e.position - s.position) as waiting from stream_events e
    where e.position > s.position order by e.position limit ${WAITING_MAX}) as counted) as waiting`;

/** Adds a subscription of everything after the last event that has a position, and of every event without one. */
export const insertSubscription = async (tx: Queryable, row: SealedSubscription): Promise<void> => {
  await tx`
    insert into event_subscriptions (subscription_id, url, types, secret, secret_keys, position)
    select ${row.subscription_id}, ${row.url}, ${row.types as string[]}::text[], ${row.secret},
           ${tx.json(row.secret_keys)}, coalesce(max(position), 0)
    from stream_events`;
};

export const countSubscriptions = (sql: Queryable) =>
  onlyValue(sql<{ count: number }[]>`select count(*)::int as count from event_subscriptions`);

export const deleteSubscription = (tx: Queryable, subscription_id: string): Promise<boolean> =>
  isOneRow(tx`delete from event_subscriptions where subscription_id = ${subscription_id}`);

export const findSubscription = (sql: Queryable, subscription_id: string) =>
  firstRow(sql<Subscription[]>`
    select ${publicColumns(sql)} from event_subscriptions s where subscription_id = ${subscription_id}`);

/** Switches a subscription on, and ends the delay of one that failed. */
export const resumeSubscription = (tx: Queryable, subscription_id: string): Promise<boolean> =>
  isOneRow(tx`
    update event_subscriptions set ${addressIsHealthy(tx)} where subscription_id = ${subscription_id}`);

/** Finds what a worker needs to send a subscription's events. `is_due`: may an event be sent now? */
export const findSendingSubscription = (sql: Queryable, subscription_id: string) =>
  firstRow(
    sql<
      (SealedSubscription &
        Pick<SubscriptionRow, 'former_secret' | 'failures' | 'position'> & { is_due: boolean })[]
    >`
    select subscription_id, types, position, ${sendingColumns(sql)} from event_subscriptions where subscription_id = ${subscription_id}`,
  );

/** Records that every event up to this position is delivered, or of another type. */
export const advanceSubscription = async (
  sql: Queryable,
  subscription_id: string,
  position: number,
): Promise<void> => {
  await sql`
    update event_subscriptions set position = ${position}
    where subscription_id = ${subscription_id} and position < ${position}`;
};

/** The subscriptions that have an event to send now, at most `limit`. */
export const listDueSubscriptions = (sql: Queryable, limit: number) =>
  readColumn(sql<{ subscription_id: string }[]>`
    select subscription_id from event_subscriptions s
    where status = 'active' and next_attempt_at <= now()
      and exists (select from stream_events e where e.position > s.position)
    order by next_attempt_at limit ${limit}`);

export const SUBSCRIPTION_SORTS = ['created_at', 'failing_since'] as const;

/** Reads one page of the subscriptions. */
export const listSubscriptionPage = (
  sql: Queryable,
  { status }: { status?: (typeof ADDRESS_CONDITIONS)[number] | undefined },
  page: ListPage<(typeof SUBSCRIPTION_SORTS)[number]>,
) =>
  readListPage<Subscription>(sql, page, {
    columns: publicColumns(sql),
    from: sql`event_subscriptions s ${where(sql, [status && addressIs[status](sql)])}`,
    sort_by: page.sort === 'created_at' ? sql`created_at` : sql`coalesce(failing_since, 'infinity')`,
    id: sql`subscription_id`,
  });
