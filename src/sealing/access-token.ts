import { randomBytes } from 'node:crypto';
import type { ApplicationRow, SealedAccessToken } from '#db/queries/applications.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { isKeyError, KeyError } from '#src/sealing/errors.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import {
  FORMAT,
  nameRecord,
  openValue,
  type SealedPlace,
  type SealedRecord,
  sealValue,
} from '#src/sealing/sealed-value.ts';

/** An application and the addresses that its access token is sent to. */
export type AddressedApplication = Pick<
  ApplicationRow,
  'application_id' | 'query_game_list_webhook' | 'query_game_detail_webhook' | 'query_cp_kyc_webhook'
>;

/** The record that an application's access token is sealed for. */
export const tokenRecord = (application_id: string): SealedRecord => ({
  table: 'applications',
  record_id: application_id,
});

/** The origins of an application's webhooks, sorted, each once. */
export const originsOf = (application: AddressedApplication): string[] => {
  const webhooks = [
    application.query_game_list_webhook,
    application.query_game_detail_webhook,
    application.query_cp_kyc_webhook,
  ];
  return [...new Set(webhooks.map((text) => URL.parse(text)?.origin ?? text))].sort();
};

/** A token opens for the origins that it was sealed for: a webhook that the database alone changed receives nothing. */
const boundPlace = (application: AddressedApplication): SealedPlace => ({
  ...tokenRecord(application.application_id),
  column: 'access_token',
  boundTo: originsOf(application),
});
/** The place of a token that an earlier release sealed, bound to no origin. */
const unboundPlace = ({ application_id }: AddressedApplication): SealedPlace => ({
  ...tokenRecord(application_id),
  column: 'access_token',
});
const isUnbound = (token: Uint8Array): boolean => token[0] === FORMAT.plain;

/**
 * Seal an application's access token under a new data key, for the origins of its webhooks.
 * @throws KeyError `no_key` or `key_service`
 */
export const sealAccessToken = async (
  keys: KeyRing,
  application: AddressedApplication,
  token: string,
): Promise<{ access_token: Uint8Array; access_token_keys: SealedAccessToken['access_token_keys'] }> => {
  const dataKey = randomBytes(KEY_BYTES);
  return {
    access_token: sealValue(dataKey, boundPlace(application), Buffer.from(token)),
    access_token_keys: await wrapDataKey(keys.tokens, dataKey, tokenRecord(application.application_id)),
  };
};

/**
 * Seal a token that is bound to no origin for the origins of its application's webhooks, under the same data key.
 * @returns null when the token is bound already
 * @throws KeyError `unbound_token` or `does_not_open`
 */
export const bindAccessToken = (
  keys: KeyRing,
  application: AddressedApplication,
  dataKey: Uint8Array,
  token: Uint8Array,
): Uint8Array | null =>
  isUnbound(token)
    ? sealValue(dataKey, boundPlace(application), openUnbound(keys, application, dataKey, token))
    : null;

const openUnbound = (
  keys: KeyRing,
  application: AddressedApplication,
  dataKey: Uint8Array,
  token: Uint8Array,
): Uint8Array => {
  const { application_id } = application;
  if (keys.refuseUnbound !== true) return openValue(dataKey, unboundPlace(application), token);
  throw new KeyError(
    'unbound_token',
    `The access token of ${application_id} is not bound to the origins of its webhooks, and REFUSE_UNBOUND_TOKENS is set. Give it again: npx catalogue app update ${application_id} --access-token-file …`,
  );
};

const openBound = (application: AddressedApplication, dataKey: Uint8Array, token: Uint8Array): Uint8Array => {
  try {
    return openValue(dataKey, boundPlace(application), token);
  } catch (error) {
    if (!isKeyError(error) || error.code !== 'does_not_open') throw error;
    const { application_id } = application;
    throw new KeyError(
      'does_not_open',
      `The access token of ${application_id} is not sealed for ${originsOf(application).join(', ')}, so nothing is sent there. Check its webhooks (npx catalogue app show ${application_id}), then give the token again: npx catalogue app update ${application_id} --access-token-file …`,
    );
  }
};

/**
 * Open an application's access token.
 * @throws KeyError that names the application, the keys or the origins, never the token
 */
export const openAccessToken = async (
  keys: KeyRing,
  application: AddressedApplication & SealedAccessToken,
): Promise<string> => {
  const { access_token, access_token_keys } = application;
  const record = tokenRecord(application.application_id);
  if (access_token === null)
    throw new KeyError('does_not_open', `${nameRecord(record)} has no access token.`);
  const dataKey = await unwrapDataKey([...keys.records, ...keys.tokens], access_token_keys, record);
  const opened = isUnbound(access_token)
    ? openUnbound(keys, application, dataKey, access_token)
    : openBound(application, dataKey, access_token);
  return Buffer.from(opened).toString();
};
