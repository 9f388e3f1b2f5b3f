/** Where an application's events are sent, as its developer sets it, or an administrator in the console. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { deleteEventWebhook, isKnownOrigin, presentTokenProof } from '#db/queries/event-webhooks.ts';
import { findPresentedToken } from '#db/queries/tokens.ts';
import { webhookUrl } from '#src/contract/application-settings.ts';
import { UsageError } from '#src/errors.ts';
import {
  applicationSubject,
  changed,
  noteEventWebhook,
  oneApplication,
  requireActiveApplication,
  setEventWebhook,
} from '#src/operations/applications.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { hashApiToken, isApiToken, proveApiToken } from '#src/rules/api-token.ts';
import { sealNewEventSecret } from '#src/sealing/event-secret.ts';

/** The address is refused for its API token, or because it has none. */
export class AddressTokenError extends UsageError {}

/** @throws AddressTokenError unless the token is a valid one of the application */
const requireTokenOf = async (tx: Queryable, application_id: string, token: string): Promise<void> => {
  const found = isApiToken(token) ? await findPresentedToken(tx, hashApiToken(token)) : undefined;
  if (found === undefined || found.ended || found.application_id !== application_id)
    throw new AddressTokenError(`This is no valid API token of ${application_id}.`);
  await presentTokenProof(tx, proveApiToken(token));
};

/** A session is enough for an origin that the application has given; the trigger `guard_event_address` has the same rule. */
export const setEventAddress = defineOperation({
  name: 'event_webhook.set',
  title: "Set where an application's events are sent",
  answer: changed,
  right: 'manage_applications',
  byApplication: true,
  input: oneApplication.extend({
    url: webhookUrl,
    api_token: z
      .string()
      .optional()
      .describe('An API token of the application, for an origin that it has not given.'),
  }),
  subject: applicationSubject,
  prepare: async ({ application_id, url }, { keys }) =>
    sealNewEventSecret(await keys(), { application_id, url }),
  run: async (tx, { application_id, url, api_token }, { prepared }) => {
    await requireActiveApplication(tx, application_id);
    if (api_token !== undefined) await requireTokenOf(tx, application_id, api_token);
    else if (!(await isKnownOrigin(tx, application_id, url)))
      throw new AddressTokenError(
        'The origin of this address is new: give an API token of the application too, so that events go nowhere else.',
      );
    return setEventWebhook(tx, prepared);
  },
  log: (_, { url }) => noteEventWebhook(url),
});

export const removeEventAddress = defineOperation({
  name: 'event_webhook.remove',
  title: "Send an application's events nowhere",
  answer: oneApplication,
  right: 'manage_applications',
  byApplication: true,
  input: oneApplication,
  subject: applicationSubject,
  run: async (tx, { application_id }) => {
    await requireActiveApplication(tx, application_id);
    await deleteEventWebhook(tx, application_id);
    return { application_id };
  },
});
