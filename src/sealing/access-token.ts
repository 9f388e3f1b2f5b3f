import { randomBytes } from 'node:crypto';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { KeyError } from '#src/sealing/errors.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { nameRecord, openValue, type SealedRecord, sealValue } from '#src/sealing/sealed-value.ts';

/** The record that an application's access token is sealed for. */
export const tokenRecord = (application_id: string): SealedRecord => ({
  table: 'applications',
  record_id: application_id,
});
const COLUMN = 'access_token';

/**
 * Seal an application's access token under a new data key. The ring's first key and the installation key
 * both wrap the data key: the token survives the loss of one of them.
 * @throws KeyError `no_key` or `key_service`
 */
export const sealAccessToken = async (
  keys: KeyRing,
  application_id: string,
  token: string,
): Promise<{ access_token: Uint8Array; access_token_keys: WrappedKey[] }> => {
  const record = tokenRecord(application_id);
  const dataKey = randomBytes(KEY_BYTES);
  return {
    access_token: sealValue(dataKey, { ...record, column: COLUMN }, Buffer.from(token)),
    access_token_keys: await wrapDataKey(keys.tokens, dataKey, record),
  };
};

/** Open an application's access token. @throws KeyError that names the application and the keys, never the token */
export const openAccessToken = async (
  keys: KeyRing,
  application: Pick<ApplicationRow, 'application_id' | 'access_token' | 'access_token_keys'>,
): Promise<string> => {
  const { access_token, access_token_keys } = application;
  const record = tokenRecord(application.application_id);
  if (access_token === null)
    throw new KeyError('does_not_open', `${nameRecord(record)} has no access token.`);
  const dataKey = await unwrapDataKey([...keys.records, ...keys.tokens], access_token_keys, record);
  return Buffer.from(openValue(dataKey, { ...record, column: COLUMN }, access_token)).toString();
};
