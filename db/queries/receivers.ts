/** The health of the addresses that events are sent to: those of applications, and those of subscriptions. */
import type { Queryable } from '#db/client.ts';
import { countRows, isOneRow, readValue } from '#db/rows.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { COUNTED_MAX } from '#src/rules/budgets.ts';

/** Who receives events: an application its own, a subscription the platform's stream. */
export type Receiver = { application_id: string } | { subscription_id: string };

const rowOf = (sql: Queryable, receiver: Receiver) =>
  'application_id' in receiver
    ? { table: sql`event_webhooks`, is: sql`application_id = ${receiver.application_id}` }
    : { table: sql`event_subscriptions`, is: sql`subscription_id = ${receiver.subscription_id}` };

/** Records that the address responded, unless it was replaced meanwhile. Writes at most once a minute if nothing changed. */
export const recordAddressSuccess = async (tx: Queryable, receiver: Receiver, url: string): Promise<void> => {
  const { table, is } = rowOf(tx, receiver);
  await tx`
    update ${table}
    set failures = 0, failing_since = null, last_error = null, last_attempt_at = now(), last_success_at = now()
    where ${is} and url = ${url}
      and (failures > 0 or failing_since is not null or last_error is not null or last_success_at is null
           or last_success_at < now() - interval '1 minute')`;
};

/**
 * Records that the address failed. An address that was replaced meanwhile has not failed.
 * @returns for how long it has failed, in milliseconds
 */
export const recordAddressFailure = async (
  tx: Queryable,
  receiver: Receiver,
  { url, error, wait_ms, silence_ms }: { url: string; error: string; wait_ms: number; silence_ms: number },
): Promise<number> => {
  const { table, is } = rowOf(tx, receiver);
  const rows = await tx<{ failing_ms: number }[]>`
    update ${table}
    set failures = least(failures, ${COUNTED_MAX}) + 1, last_error = ${error}, last_attempt_at = now(),
        failing_since = case when last_attempt_at < now() - ${silence_ms} * interval '1 millisecond'
          then now() else coalesce(failing_since, now()) end,
        next_attempt_at = now() + ${wait_ms} * interval '1 millisecond'
    where ${is} and url = ${url} and status = 'active'
    returning (extract(epoch from now() - failing_since) * 1000)::float8 as failing_ms`;
  return rows[0]?.failing_ms ?? 0;
};

/** Switches an address off. @returns false if it was off or was replaced */
export const switchAddressOff = (
  tx: Queryable,
  receiver: Receiver,
  url: string,
  reason: string,
): Promise<boolean> => {
  const { table, is } = rowOf(tx, receiver);
  return isOneRow(tx`
    update ${table} set status = 'off', off_reason = ${reason}, off_at = now()
    where ${is} and url = ${url} and status = 'active'`);
};

/**
 * Postpones the next attempt because of a fault of the platform. No failure of the address is counted.
 * @param options.secret the one that was read; an address that has another one since is due
 * @param options.error one of `OWN_KINDS`
 */
export const postponeNextAttempt = async (
  sql: Queryable,
  receiver: Receiver,
  { secret, error, wait_ms }: { secret: Uint8Array; error: string; wait_ms: number },
): Promise<void> => {
  const { table, is } = rowOf(sql, receiver);
  await sql`
    update ${table}
    set last_error = ${error}, next_attempt_at = now() + ${wait_ms} * interval '1 millisecond'
    where ${is} and secret = ${secret}`;
};

/**
 * Replaces the secret. For `both_ms`, the former secret signs too (trigger `keep_former_secret`).
 * @param expected when the secret before ends, as the caller has read it
 * @returns when the former secret ends; undefined if the secret was replaced meanwhile
 */
export const replaceEventSecret = (
  tx: Queryable,
  receiver: Receiver,
  { secret, secret_keys }: { secret: Uint8Array; secret_keys: WrappedKey[] },
  { expected, both_ms }: { expected: Date | null; both_ms: number },
): Promise<Date | null | undefined> => {
  const { table, is } = rowOf(tx, receiver);
  return readValue(tx<{ former_until: Date | null }[]>`
    update ${table}
    set secret = ${secret}, secret_keys = ${tx.json(secret_keys)},
        former_until = now() + ${both_ms} * interval '1 millisecond'
    where ${is} and date_trunc('milliseconds', former_until) is not distinct from ${expected}
    returning former_until`);
};

/** Deletes former secrets that no longer sign. @returns how many */
export const deleteFormerSecrets = async (sql: Queryable): Promise<number> => {
  let deleted = 0;
  for (const table of ['event_webhooks', 'event_subscriptions'])
    deleted += await countRows(
      sql`update ${sql(table)} set former_secret = null, former_until = null where former_until <= now()`,
    );
  return deleted;
};
