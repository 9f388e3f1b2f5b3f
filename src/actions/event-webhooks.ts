/** Changes to the addresses of applications' events, each with its entry in the audit log. */
import type { Database } from '#db/client.ts';
import { lockActiveApplication } from '#db/queries/applications.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { requestDeliveries } from '#db/queries/event-deliveries.ts';
import {
  deleteEventWebhook,
  endAddressDelay,
  replaceEventSecret,
  type SealedEventWebhook,
  switchEventWebhookOn,
  upsertEventWebhook,
} from '#db/queries/event-webhooks.ts';
import { changeAudited, describeUrl } from '#src/actions/audited.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';

/** For this time after a rotation, events are signed with both secrets. */
export const BOTH_SECRETS_MS = 24 * 60 * 60_000;

/**
 * Sets where an application's events are sent, and the secret that signs them.
 * @returns false if the application was removed
 */
export const setEventWebhook = (
  sql: Database,
  actor: Actor,
  webhook: Omit<SealedEventWebhook, 'former_secret'>,
): Promise<boolean> => {
  const { application_id, url } = webhook;
  const entry = { subject: `application:${application_id}`, details: { events_webhook: describeUrl(url) } };
  return changeAudited(sql, actor, { action: 'event_webhook.set', ...entry }, async (tx) => {
    if (!(await lockActiveApplication(tx, application_id))) return false;
    await upsertEventWebhook(tx, webhook);
    return true;
  });
};

/** Deletes the address: no event is sent any more, the application can still fetch them. @returns false if there is none */
export const removeEventWebhook = (sql: Database, actor: Actor, application_id: string): Promise<boolean> =>
  changeAudited(
    sql,
    actor,
    { action: 'event_webhook.remove', subject: `application:${application_id}` },
    (tx) => deleteEventWebhook(tx, application_id),
  );

/**
 * Replaces the secret.
 * @param expected the sealed secret that the caller has read
 * @returns false if the stored secret is another one by now
 */
export const rotateEventSecret = (
  sql: Database,
  actor: Actor,
  webhook: SealedEventWebhook,
  expected: Uint8Array,
): Promise<boolean> => {
  const subject = `application:${webhook.application_id}`;
  return changeAudited(sql, actor, { action: 'event_secret.rotate', subject }, (tx) =>
    replaceEventSecret(tx, webhook, expected, BOTH_SECRETS_MS),
  );
};

/**
 * Sends events of an application now, and switches its address on if it was off. The delay of an address that failed
 * ends; its failures still count, so that one event is sent first.
 * @param event_ids events of this application; absent: all since the address was set that are not delivered
 * @returns the number of events, and whether the address was switched on
 */
export const retryEvents = (
  sql: Database,
  actor: Actor,
  application_id: string,
  event_ids?: readonly string[],
): Promise<{ events: number; switched_on: boolean }> =>
  sql.begin(async (tx) => {
    const switched_on = await switchEventWebhookOn(tx, application_id);
    const events = await requestDeliveries(tx, event_ids === undefined ? { application_id } : { event_ids });
    if (events > 0) await endAddressDelay(tx, application_id);
    const subject = `application:${application_id}`;
    const details = {
      events,
      ...(event_ids !== undefined && { event_ids: event_ids.slice(0, LOGGED_IDS_MAX) }),
    };
    await recordAudit(tx, [
      ...(switched_on ? [{ ...actor, action: 'event_webhook.on', subject } as const] : []),
      ...(events > 0 ? [{ ...actor, action: 'event.retry', subject, details } as const] : []),
    ]);
    return { events, switched_on };
  }) as Promise<{ events: number; switched_on: boolean }>;
