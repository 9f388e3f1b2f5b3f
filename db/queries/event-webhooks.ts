import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { firstRow, isOneRow } from '#db/rows.ts';
import type { eventWebhooks } from '#db/schema/events.ts';

export type EventWebhookRow = InferSelectModel<typeof eventWebhooks>;

/** The address of an application's events and its health, without the secrets. */
export type EventWebhook = Omit<EventWebhookRow, 'secret' | 'former_secret' | 'secret_keys'>;

type Sealed = Pick<EventWebhookRow, 'application_id' | 'url' | 'secret' | 'former_secret' | 'secret_keys'>;

/** The health of an address that is new, or switched on again. */
const healthy = (sql: Queryable) => sql`
  status = 'active', off_reason = null, off_at = null, failures = 0, failing_since = null, next_attempt_at = now(),
  last_error = null`;

/** Set the address of an application's events. What it had before is replaced. */
export const upsertEventWebhook = async (tx: Queryable, webhook: Sealed): Promise<void> => {
  const { application_id, url, secret } = webhook;
  const keys = tx.json(webhook.secret_keys);
  await tx`
    insert into event_webhooks (application_id, url, secret, secret_keys)
    values (${application_id}, ${url}, ${secret}, ${keys})
    on conflict (application_id) do update
      set url = ${url}, secret = ${secret}, secret_keys = ${keys}, former_secret = null, former_until = null,
          created_at = now(), last_attempt_at = null, last_success_at = null, ${healthy(tx)}`;
};

/**
 * Replace the secret; the former one signs too for `bothMs`.
 * @param before the sealed secret that was rotated. @returns false if it was changed since
 */
export const replaceEventSecret = (
  tx: Queryable,
  { application_id, secret, former_secret }: Sealed,
  before: Uint8Array,
  bothMs: number,
): Promise<boolean> =>
  isOneRow(tx`
    update event_webhooks
    set secret = ${secret}, former_secret = ${former_secret}, former_until = now() + ${bothMs} * interval '1 millisecond'
    where application_id = ${application_id} and secret = ${before}`);

/** Delete the address and what was to be sent there. @returns false if there is none */
export const deleteEventWebhook = async (tx: Queryable, application_id: string): Promise<boolean> => {
  await tx`
    update event_deliveries set state = 'failed', last_error = 'address_removed'
    where application_id = ${application_id} and state = 'pending'`;
  return isOneRow(tx`delete from event_webhooks where application_id = ${application_id}`);
};

/** An address with its sealed secrets; the former one only while it signs. `is_due`: may an event be sent now? */
export const findSendingAddress = (sql: Queryable, application_id: string) =>
  firstRow(sql<(Sealed & Pick<EventWebhookRow, 'failures'> & { is_due: boolean })[]>`
    select application_id, url, secret, case when former_until > now() then former_secret end as former_secret,
           secret_keys, failures, status = 'active' and next_attempt_at <= now() as is_due
    from event_webhooks where application_id = ${application_id}`);

/** Columns without secrets: the console may read no other. */
const seen = (sql: Queryable) => sql`
  application_id, url, former_until, status, off_reason, off_at, failures, failing_since, next_attempt_at,
  last_attempt_at, last_success_at, last_error, created_at`;

export const findEventWebhook = (sql: Queryable, application_id: string): Promise<EventWebhook | undefined> =>
  firstRow(
    sql<EventWebhook[]>`select ${seen(sql)} from event_webhooks where application_id = ${application_id}`,
  );

/** Switch an address on that was switched off. @returns whether it was off */
export const switchEventWebhookOn = (tx: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(tx`
    update event_webhooks set ${healthy(tx)} where application_id = ${application_id} and status = 'off'`);

/** Addresses that need a person: switched off, or failing for an hour. */
export const listTroubledEventWebhooks = (sql: Queryable, limit: number): Promise<EventWebhook[]> =>
  sql<EventWebhook[]>`
    select ${seen(sql)} from event_webhooks
    where status = 'off' or failing_since < now() - interval '1 hour'
    order by status desc, failing_since limit ${limit}`;

/** Postpone an address whose secret does not open here: that is not the receiver's fault. */
export const postponeEventWebhook = async (
  sql: Queryable,
  application_id: string,
  error: string,
  ms: number,
): Promise<void> => {
  await sql`
    update event_webhooks set last_error = ${error}, next_attempt_at = now() + ${ms} * interval '1 millisecond'
    where application_id = ${application_id}`;
};

/** Delete former secrets that no longer sign. */
export const deleteFormerSecrets = async (sql: Queryable): Promise<void> => {
  await sql`update event_webhooks set former_secret = null, former_until = null where former_until <= now()`;
};
