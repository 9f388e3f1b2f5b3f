import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { applicationName } from '#db/queries/applications.ts';
import { failDeliveries } from '#db/queries/event-deliveries.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, isOneRow, onlyRow, onlyValue } from '#db/rows.ts';
import type { eventWebhooks } from '#db/schema/events.ts';
import { where } from '#db/where.ts';

export type EventWebhookRow = InferSelectModel<typeof eventWebhooks>;

/** Where an application's events are sent, with the health of that address, without the secrets. */
export type EventWebhook = Omit<EventWebhookRow, 'secret' | 'former_secret' | 'secret_keys'>;

/** Where an application's events are sent, with the sealed secrets that sign them. */
export type SealedEventWebhook = Pick<
  EventWebhookRow,
  'application_id' | 'url' | 'secret' | 'former_secret' | 'secret_keys'
>;

/** Columns of an address that is new or was switched on again: active, without failures. */
export const addressIsHealthy = (sql: Queryable) => sql`
  status = 'active', off_reason = null, off_at = null, failures = 0, failing_since = null, next_attempt_at = now(),
  last_error = null`;

/**
 * Sets the address of an application's events. It replaces the former address, with its secrets and its health.
 * `created_at` stays, because events that did not arrive at the former address can be sent to the new one.
 */
export const upsertEventWebhook = async (
  tx: Queryable,
  webhook: Omit<SealedEventWebhook, 'former_secret'>,
): Promise<void> => {
  const { application_id, url, secret } = webhook;
  const keys = tx.json(webhook.secret_keys);
  await tx`
    insert into event_webhooks (application_id, url, secret, secret_keys)
    values (${application_id}, ${url}, ${secret}, ${keys})
    on conflict (application_id) do update
      set url = ${url}, secret = ${secret}, secret_keys = ${keys}, former_until = null,
          last_attempt_at = null, last_success_at = null, ${addressIsHealthy(tx)}`;
};

/** Has the application given this origin before, for its webhooks or its events? */
export const isKnownOrigin = (sql: Queryable, application_id: string, url: string): Promise<boolean> =>
  onlyValue(sql<{ is_known: boolean }[]>`
    select coalesce(event_origin(${url}) in (select event_origins(${application_id})), false) as is_known`);

/** Proves to the trigger `guard_event_address`, in this transaction, that the caller has an API token. */
export const presentTokenProof = async (tx: Queryable, proof: Uint8Array): Promise<void> => {
  await tx`select set_config('catalogue.token_proof', ${Buffer.from(proof).toString('hex')}, true)`;
};

/** Deletes the address. Its pending deliveries end as failed. @returns false if there is no address */
export const deleteEventWebhook = async (tx: Queryable, application_id: string): Promise<boolean> => {
  await failDeliveries(tx, application_id, 'address_removed');
  return isOneRow(tx`delete from event_webhooks where application_id = ${application_id}`);
};

/** The columns that a worker needs to send events; the former secret only while it signs. */
export const sendingColumns = (sql: Queryable) => sql`
  url, secret, case when former_until > now() then former_secret end as former_secret, secret_keys, failures,
  status = 'active' and next_attempt_at <= now() as is_due`;

/** Finds the address of an application's events, with the sealed secrets. `is_due`: may an event be sent now? */
export const findSendingAddress = (sql: Queryable, application_id: string) =>
  firstRow(sql<(SealedEventWebhook & Pick<EventWebhookRow, 'failures'> & { is_due: boolean })[]>`
    select application_id, ${sendingColumns(sql)} from event_webhooks where application_id = ${application_id}`);

/** All columns but the secrets, which the console's database role may not read. */
const publicColumns = (sql: Queryable) => sql`
  application_id, url, former_until, status, off_reason, off_at, failures, failing_since, next_attempt_at,
  last_attempt_at, last_success_at, last_error, created_at`;

export const findEventWebhook = (sql: Queryable, application_id: string): Promise<EventWebhook | undefined> =>
  firstRow(sql<EventWebhook[]>`
    select ${publicColumns(sql)} from event_webhooks where application_id = ${application_id}`);

/** Switches an address on again. @returns false if it was not off */
export const switchEventWebhookOn = (tx: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(tx`
    update event_webhooks set ${addressIsHealthy(tx)} where application_id = ${application_id} and status = 'off'`);

/** Ends the delay of an address that failed, so its next event is sent now. */
export const endAddressDelay = async (tx: Queryable, application_id: string): Promise<void> => {
  await tx`
    update event_webhooks set next_attempt_at = now()
    where application_id = ${application_id} and status = 'active' and next_attempt_at > now()`;
};

export const ADDRESS_SORTS = ['application_id', 'failing_since'] as const;

/** `trouble`: an operator should look at it, because it is off, or has failed for more than an hour. */
export const ADDRESS_CONDITIONS = ['active', 'failing', 'off', 'trouble'] as const;
type AddressFilter = {
  application_id?: string | undefined;
  status?: (typeof ADDRESS_CONDITIONS)[number] | undefined;
};

/** The SQL condition for each word of `ADDRESS_CONDITIONS`. */
export const addressIs = {
  active: (sql: Queryable) => sql`status = 'active'`,
  failing: (sql: Queryable) => sql`status = 'active' and failing_since is not null`,
  off: (sql: Queryable) => sql`status = 'off'`,
  trouble: (sql: Queryable) => sql`(status = 'off' or failing_since < now() - interval '1 hour')`,
};

/** An address with the name of its application. */
export type AddressItem = EventWebhook & { application_name: string };

/** Reads one page of the addresses of events. */
export const listEventWebhookPage = (
  sql: Queryable,
  { application_id, status }: AddressFilter,
  page: ListPage<(typeof ADDRESS_SORTS)[number]>,
) =>
  readListPage<AddressItem>(sql, page, {
    columns: sql`${publicColumns(sql)}, ${applicationName(sql, 'event_webhooks')}`,
    from: sql`event_webhooks ${where(sql, [
      application_id !== undefined && sql`application_id = ${application_id}`,
      status && addressIs[status](sql),
    ])}`,
    sort_by: page.sort === 'application_id' ? sql`application_id` : sql`coalesce(failing_since, 'infinity')`,
    id: sql`application_id`,
  });

/** Counts the addresses that events are sent to: those of applications and those of subscriptions. */
export const countEventWebhooks = (sql: Queryable) =>
  onlyRow(sql<{ active: number; off: number }[]>`
    select count(*) filter (where status = 'active')::int as active,
           count(*) filter (where status = 'off')::int as off
    from (select status from event_webhooks union all select status from event_subscriptions) as addresses`);
