import { randomBytes } from 'node:crypto';
import type { EventWebhookRow } from '#db/queries/event-webhooks.ts';
import type { Receiver } from '#db/queries/receivers.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { isKeyError, KeyError } from '#src/sealing/errors.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { openValue, type SealedPlace, type SealedRecord, sealValue } from '#src/sealing/sealed-value.ts';

/** An application or a subscription, and the address that its events are sent to. */
export type EventAddress = Receiver & { url: string };
export type SealedEventSecrets = Pick<EventWebhookRow, 'secret' | 'former_secret' | 'secret_keys'>;

/** Standard Webhooks requires 24 to 64 random bytes. */
const SECRET_BYTES = 32;

/** The record that the secrets of an address are sealed for. */
export const eventSecretRecord = (receiver: Receiver): SealedRecord =>
  'application_id' in receiver
    ? { table: 'event_webhooks', record_id: receiver.application_id }
    : { table: 'event_subscriptions', record_id: receiver.subscription_id };

/** The place of a secret. It opens only for the address that it was sealed for, so an address that was changed in SQL receives nothing. */
const placeOf = (address: EventAddress): SealedPlace => ({
  ...eventSecretRecord(address),
  column: 'secret',
  boundTo: [address.url],
});

/** Creates a secret in the form of Standard Webhooks: `whsec_` and base64. */
const createEventSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** Advises an operator about a secret that does not open. */
const adviceFor = (receiver: Receiver): string =>
  'application_id' in receiver
    ? `Check the address (npx catalogue app show ${receiver.application_id}), then set it again: npx catalogue app update ${receiver.application_id} --events-webhook …`
    : `Check the address (npx catalogue event subscriptions), then subscribe again: npx catalogue event unsubscribe ${receiver.subscription_id}, and event subscribe`;

const open = async (
  { records, tokens }: KeyRing,
  address: EventAddress,
  sealed: Uint8Array,
  wraps: readonly WrappedKey[],
): Promise<string> => {
  const dataKey = await unwrapDataKey([...records, ...tokens], wraps, eventSecretRecord(address));
  try {
    return Buffer.from(openValue(dataKey, placeOf(address), sealed)).toString();
  } catch (error) {
    if (!isKeyError(error) || error.code !== 'does_not_open') throw error;
    const of = 'application_id' in address ? address.application_id : address.subscription_id;
    throw new KeyError(
      'does_not_open',
      `The secret of the events of ${of} is not sealed for ${URL.parse(address.url)?.origin ?? 'its address'}, so nothing is sent there. ${adviceFor(address)}`,
    );
  }
};

/** A secret of an address: to be shown once, and as it is stored. */
export type NewEventSecret<Address extends EventAddress> = {
  address: Address;
  secret: string;
  sealed: Pick<EventWebhookRow, 'secret' | 'secret_keys'>;
};

/**
 * Creates a secret, under a new data key. If it replaces another secret, the trigger `keep_former_secret` keeps that one.
 * @throws KeyError `no_key` or `key_service`
 */
export const sealNewEventSecret = async <Address extends EventAddress>(
  keys: KeyRing,
  address: Address,
): Promise<NewEventSecret<Address>> => {
  const dataKey = randomBytes(KEY_BYTES);
  const secret = createEventSecret();
  return {
    address,
    secret,
    sealed: {
      secret: sealValue(dataKey, placeOf(address), Buffer.from(secret)),
      secret_keys: await wrapDataKey(keys.tokens, dataKey, eventSecretRecord(address)),
    },
  };
};

/**
 * Opens the secrets of an address: the present one, then the former one if a key opens it.
 * @throws KeyError that names the application and the keys, never a secret
 */
export const openEventSecrets = async (
  keys: KeyRing,
  address: EventAddress & SealedEventSecrets,
): Promise<string[]> => {
  const { secret, former_secret, secret_keys } = address;
  const present = await open(keys, address, secret, secret_keys);
  if (former_secret === null) return [present];
  try {
    return [present, await open(keys, address, former_secret, secret_keys.slice(1))];
  } catch (error) {
    if (!isKeyError(error) || error.retryable) throw error;
    return [present];
  }
};
