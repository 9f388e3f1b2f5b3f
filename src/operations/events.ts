/** Operations on the delivery of events: new secrets, retries, test events, and addresses that are switched off. */

import { z } from 'zod';
import { type Queryable, readTime } from '#db/client.ts';
import {
  countUndelivered,
  DELIVERIES_MAX,
  failDeliveries,
  insertTestEvent,
  requestDeliveries,
} from '#db/queries/event-deliveries.ts';
import { endAddressDelay, findEventWebhook, switchEventWebhookOn } from '#db/queries/event-webhooks.ts';
import { type Receiver, replaceEventSecret, switchAddressOff } from '#db/queries/receivers.ts';
import { findSubscription } from '#db/queries/subscriptions.ts';
import { TransactionRestart } from '#db/transact.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';
import { count, time } from '#src/contract/documents.ts';
import { sinceTime } from '#src/contract/since.ts';
import { CatalogueError, NotFoundError, StateError } from '#src/errors.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import {
  applicationSubject,
  oneApplication,
  requireActiveApplication,
} from '#src/operations/applications.ts';
import { type AuditNote, defineOperation, type Outside } from '#src/operations/operation.ts';
import { oneSubscription, subscriptionSubject } from '#src/operations/subscriptions.ts';
import { type EventAddress, type NewEventSecret, sealNewEventSecret } from '#src/sealing/event-secret.ts';

/** For this time after a rotation, events are signed with both secrets. */
const BOTH_SECRETS_MS = DAY_MS;

const noAddress = (application_id: string): StateError =>
  new StateError(`${application_id} has no address for events: set events_webhook first (app update).`);

const formerUntil = z.iso
  .datetime()
  .transform((text) => new Date(text))
  .nullable()
  .optional()
  .describe(
    'When the former secret ends, as the caller has read it. If absent, the call is refused while a former secret still signs, so a repeated call replaces nothing.',
  );

/** Creates a secret for the address as it is now. */
const prepareSecret = async (
  receiver: Receiver,
  address: { url: string } | undefined,
  { keys }: Outside,
): Promise<NewEventSecret<EventAddress> | undefined> =>
  address && sealNewEventSecret(await keys(), { ...receiver, url: address.url });

/**
 * Replaces the secret of an address. The new one is shown only now; the former one signs too until `former_until`.
 * @param seen `former_until` as the caller has read it; the secret that signs until then ends now
 */
const rotate = async (
  tx: Queryable,
  receiver: Receiver,
  { url, former_until: ends }: { url: string; former_until: Date | null },
  seen: Date | null | undefined,
  prepared: NewEventSecret<EventAddress> | undefined,
) => {
  if (seen === undefined && ends !== null && ends > (await readTime(tx)))
    throw new StateError(
      `The former secret signs until ${ends.toISOString()}, and would end now. Wait, or give this time as former_until (--former-until).`,
    );
  const expected = seen === undefined ? ends : seen;
  // A secret opens only for the address that it was sealed for.
  if (prepared?.address.url !== url) throw new TransactionRestart();
  const { secret, sealed } = prepared;
  const former_until = await replaceEventSecret(tx, receiver, sealed, { expected, both_ms: BOTH_SECRETS_MS });
  if (former_until === undefined)
    throw new CatalogueError('The secret was changed meanwhile: nothing was changed here.');
  return { secret, former_until };
};

const rotated = { secret: z.string().describe('Shown only now.'), former_until: time.nullable() };

export const rotateEventSecret = defineOperation({
  name: 'event_secret.rotate',
  title: "Replace the secret that signs an application's events",
  answer: z.object({ application_id: z.string(), ...rotated }),
  right: 'manage_applications',
  byApplication: true,
  input: oneApplication.extend({ former_until: formerUntil }),
  subject: applicationSubject,
  prepare: async ({ application_id }, outside) =>
    prepareSecret({ application_id }, await findEventWebhook(outside.sql, application_id), outside),
  run: async (tx, { application_id, former_until }, { prepared }) => {
    await requireActiveApplication(tx, application_id);
    const address = await findEventWebhook(tx, application_id);
    if (address === undefined) throw noAddress(application_id);
    return { application_id, ...(await rotate(tx, { application_id }, address, former_until, prepared)) };
  },
});

export const rotateSubscriptionSecret = defineOperation({
  name: 'event_secret.rotate_subscription',
  title: 'Replace the secret that signs the stream for a subscription',
  answer: oneSubscription.extend(rotated),
  right: 'manage_applications',
  input: oneSubscription.extend({ former_until: formerUntil }),
  subject: subscriptionSubject,
  prepare: async ({ subscription_id }, outside) =>
    prepareSecret({ subscription_id }, await findSubscription(outside.sql, subscription_id), outside),
  run: async (tx, { subscription_id, former_until }, { prepared }) => {
    const subscription = await findSubscription(tx, subscription_id);
    if (subscription === undefined) throw new NotFoundError('subscription', subscription_id);
    return {
      subscription_id,
      ...(await rotate(tx, { subscription_id }, subscription, former_until, prepared)),
    };
  },
});

export const retryEvents = defineOperation({
  name: 'event.retry',
  title: 'Send events of an application now, for another 24 hours',
  answer: z.object({ events: count, switched_on: z.boolean() }),
  right: 'manage_applications',
  byApplication: true,
  input: oneApplication.extend({
    /** These events. Without them and without `since`, every undelivered event since the first address was set. */
    event_ids: z.array(z.guid().toLowerCase()).min(1).max(DELIVERIES_MAX).optional(),
    /** Every event since this time, delivered ones too; at most the oldest 10,000. */
    since: sinceTime.optional(),
  }),
  subject: applicationSubject,
  /**
   * Switches an address on that was off, and ends the delay of one that failed; its failures still count, so that one
   * event is sent first. `address` is the address as it was before.
   */
  run: async (tx, { application_id, event_ids, since }) => {
    await requireActiveApplication(tx, application_id);
    const address = await findEventWebhook(tx, application_id);
    if (address === undefined) throw noAddress(application_id);
    const switched_on = await switchEventWebhookOn(tx, application_id);
    const events = await requestDeliveries(tx, application_id, { event_ids, since });
    if (events > 0) await endAddressDelay(tx, application_id);
    return { events, switched_on, address };
  },
  log: ({ events, switched_on }, { event_ids, since }): AuditNote[] => {
    const named = {
      ...(event_ids !== undefined && { event_ids: event_ids.slice(0, LOGGED_IDS_MAX) }),
      ...(since !== undefined && { since }),
    };
    return [
      ...(switched_on ? [{ action: 'event_webhook.on' } as const] : []),
      ...(events > 0 ? [{ details: { events, ...named } }] : []),
    ];
  },
});

export const sendTestEvent = defineOperation({
  name: 'event.test',
  title: 'Send a test event to the address of an application',
  answer: z.object({
    event_id: z.string(),
    switched_on: z.boolean(),
    undelivered: count.describe(
      'Earlier events that no further attempt sends, for example of the time when the address was off: event/retry sends them. Counted up to 10,000.',
    ),
  }),
  right: 'manage_applications',
  byApplication: true,
  input: oneApplication,
  subject: applicationSubject,
  run: async (tx, { application_id }) => {
    await requireActiveApplication(tx, application_id);
    if ((await findEventWebhook(tx, application_id)) === undefined) throw noAddress(application_id);
    const switched_on = await switchEventWebhookOn(tx, application_id);
    const event_id = await insertTestEvent(tx, application_id);
    await endAddressDelay(tx, application_id);
    return { event_id, switched_on, undelivered: await countUndelivered(tx, application_id) };
  },
  log: ({ event_id, switched_on }): AuditNote[] => [
    ...(switched_on ? [{ action: 'event_webhook.on' } as const] : []),
    { details: { event_id } },
  ],
});

const failing = z.object({ url: z.string(), reason: z.string() });
type FailingAddress = Receiver & z.infer<typeof failing>;

export const switchEventsOff = defineOperation({
  name: 'event_webhook.off',
  title: 'Send no more events to an address that fails',
  right: 'system',
  input: z.union([failing.extend(oneApplication.shape), failing.extend(oneSubscription.shape)]),
  subject: (address: FailingAddress) =>
    'application_id' in address ? applicationSubject(address) : subscriptionSubject(address),
  run: async (tx, { url, reason, ...receiver }): Promise<boolean> => {
    if (!(await switchAddressOff(tx, receiver, url, reason))) return false;
    if ('application_id' in receiver) await failDeliveries(tx, receiver.application_id, 'switched_off');
    return true;
  },
  log: (isSwitched, { reason }) => (isSwitched ? { reason } : []),
});
