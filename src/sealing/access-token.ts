import { randomBytes } from 'node:crypto';
import type { ApplicationRow, SealedAccessToken } from '#db/queries/applications.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { isKeyError, KeyError } from '#src/sealing/errors.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import {
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

/** A token opens for the origins that it was sealed for, so a webhook that the database alone changed receives nothing. */
const tokenPlace = (application: AddressedApplication): SealedPlace => ({
  ...tokenRecord(application.application_id),
  column: 'access_token',
  boundTo: originsOf(application),
});

/**
 * Seals an application's access token under a new data key, for the origins of its webhooks.
 * @throws KeyError `no_key` or `key_service`
 */
export const sealAccessToken = async (
  keys: KeyRing,
  application: AddressedApplication,
  token: string,
): Promise<{ access_token: Uint8Array; access_token_keys: SealedAccessToken['access_token_keys'] }> => {
  const dataKey = randomBytes(KEY_BYTES);
  return {
    access_token: sealValue(dataKey, tokenPlace(application), Buffer.from(token)),
    access_token_keys: await wrapDataKey(keys.tokens, dataKey, tokenRecord(application.application_id)),
  };
};

const openToken = (application: AddressedApplication, dataKey: Uint8Array, token: Uint8Array): Uint8Array => {
  try {
    return openValue(dataKey, tokenPlace(application), token);
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
 * Opens an application's access token.
 * @throws KeyError that names the application, the keys or the origins, never the token
 */
export const openAccessToken = async (
  keys: KeyRing,
  application: AddressedApplication & SealedAccessToken,
): Promise<string> => {
  const { access_token, access_token_keys } = application;
  const record = tokenRecord(application.application_id);
  if (access_token === null)
    throw new KeyError('does_not_open', `The ${nameRecord(record)} has no access token.`);
  const dataKey = await unwrapDataKey([...keys.records, ...keys.tokens], access_token_keys, record);
  return Buffer.from(openToken(application, dataKey, access_token)).toString();
};
