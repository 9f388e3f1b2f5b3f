/** Subscriptions of the platform's stream: where it is sent. */
import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { findStreamEnds } from '#db/queries/stream.ts';
import {
  countSubscriptions,
  deleteSubscription,
  findSubscription,
  insertSubscription,
  resumeSubscription as switchOn,
} from '#db/queries/subscriptions.ts';
import { webhookUrl } from '#src/contract/application-settings.ts';
import { count } from '#src/contract/documents.ts';
import { streamTypes } from '#src/contract/stream.ts';
import { CatalogueError, NotFoundError, StateError } from '#src/errors.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { sealNewEventSecret } from '#src/sealing/event-secret.ts';

/** Each reads the whole stream. */
const SUBSCRIPTIONS_MAX = 20;

export const oneSubscription = z.object({ subscription_id: z.guid().toLowerCase() });

export const subscriptionSubject = ({ subscription_id }: { subscription_id: string }): string =>
  `subscription:${subscription_id}`;

const requireSubscription = async (tx: Queryable, subscription_id: string) => {
  const found = await findSubscription(tx, subscription_id);
  if (found === undefined) throw new NotFoundError('subscription', subscription_id);
  return found;
};

const subscribed = oneSubscription.extend({ url: z.string() });

export const subscribe = defineOperation({
  name: 'event.subscribe',
  title: "Send the platform's stream of events to an address",
  answer: z.object({
    ...subscribed.shape,
    types: streamTypes,
    secret: z.string().describe('Signs the events; shown only now.'),
  }),
  right: 'manage_applications',
  input: z.object({
    url: webhookUrl.describe('Where the events are sent, as Standard Webhooks.'),
    types: streamTypes.describe('Only events of these types; [] for all.'),
  }),
  subject: () => 'subscription:*',
  prepare: async ({ url }, { keys }) => {
    const subscription_id = randomUUIDv7();
    return { subscription_id, ...(await sealNewEventSecret(await keys(), { subscription_id, url })) };
  },
  run: async (tx, { url, types }, { prepared: { subscription_id, secret, sealed } }) => {
    if ((await countSubscriptions(tx)) >= SUBSCRIPTIONS_MAX)
      throw new StateError(
        `There are ${SUBSCRIPTIONS_MAX} subscriptions: end one first (event unsubscribe).`,
      );
    await insertSubscription(tx, { subscription_id, url, types: [...new Set(types)], ...sealed });
    /** The secret is shown only now. */
    return { subscription_id, url, types, secret };
  },
  // An address may have a secret in its query.
  log: ({ subscription_id, url, types }) => ({
    subject: subscriptionSubject({ subscription_id }),
    details: { origin: new URL(url).origin, types },
  }),
});

export const unsubscribe = defineOperation({
  name: 'event.unsubscribe',
  title: "Stop sending the platform's stream to an address",
  answer: subscribed,
  right: 'manage_applications',
  input: oneSubscription,
  subject: subscriptionSubject,
  run: async (tx, { subscription_id }) => {
    const { url } = await requireSubscription(tx, subscription_id);
    await deleteSubscription(tx, subscription_id);
    return { subscription_id, url };
  },
});

export const resumeSubscription = defineOperation({
  name: 'event.resume',
  title: 'Send the stream again to an address that failed or was switched off, from where it stopped',
  answer: subscribed.extend({ waiting: count }),
  right: 'manage_applications',
  input: oneSubscription,
  subject: subscriptionSubject,
  run: async (tx, { subscription_id }) => {
    const { url, position, waiting } = await requireSubscription(tx, subscription_id);
    const { first } = await findStreamEnds(tx);
    if (first !== null && position < first - 1)
      throw new CatalogueError(
        'Events that this subscription did not receive are deleted by now: end it (event unsubscribe), subscribe again, and copy the catalogue anew.',
      );
    await switchOn(tx, subscription_id);
    return { subscription_id, url, waiting };
  },
});
