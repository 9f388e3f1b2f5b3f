import { createHmac, randomBytes } from 'node:crypto';
import type { Queryable } from '#db/client.ts';
import { insertFingerprintKey, lockFingerprintKey } from '#db/queries/kyc.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { KEY_BYTES } from '#src/kyc/aes-gcm.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/kyc/key-provider.ts';
import type { KycFields } from '#src/kyc/record.ts';
import { lengthPrefixed, type SealedRecord } from '#src/kyc/sealed-value.ts';

/** What the fingerprint key is wrapped for. */
export const FINGERPRINT_KEY: SealedRecord = { table: 'kyc_keys', record_id: 'fingerprint' };

/**
 * The installation's fingerprint key: random, made with the first record, stored wrapped like any data key, so
 * that fingerprints outlive a change of ENCRYPTION_KEYS. It is also the gate: a process whose keys do not open
 * it seals nothing, rather than begin a second set of keys. Held until the transaction ends, so that a reseal
 * waits for records that are being written.
 * @throws KeyError `no_key`, `unknown_key`, `does_not_open` or `key_service`
 */
export const openFingerprintKey = async (tx: Queryable, keys: KeyRing): Promise<Uint8Array> => {
  const stored = (await lockFingerprintKey(tx)) ?? (await createFingerprintKey(tx, keys));
  return unwrapDataKey(keys.records, stored, FINGERPRINT_KEY);
};

const createFingerprintKey = async (tx: Queryable, keys: KeyRing) => {
  await insertFingerprintKey(
    tx,
    await wrapDataKey(keys.records.slice(0, 1), randomBytes(KEY_BYTES), FINGERPRINT_KEY),
  );
  // Another process may have been faster: what is stored now counts.
  return (await lockFingerprintKey(tx)) ?? [];
};

const hmac = (key: Uint8Array, ...parts: readonly string[]): Uint8Array =>
  createHmac('sha256', key)
    .update(lengthPrefixed(...parts))
    .digest();

/** HMAC-SHA-256 over the nine fields: equal to the stored one means that nothing changed. */
export const recordFingerprint = (key: Uint8Array, application_id: string, fields: KycFields): Uint8Array =>
  hmac(key, 'kyc record', application_id, ...KYC_SEALED_FIELDS.map((field) => fields[field]));

/** Letters and digits alone, in one form: "DE 123-456" and "de123456" are one company's. */
const normalizeTaxId = (tax_id: string): string =>
  tax_id
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

/** HMAC-SHA-256 over the normalized tax id, the same whichever application sent it; null for an empty one. */
export const taxIdFingerprint = (key: Uint8Array, tax_id: string): Uint8Array | null => {
  const normalized = normalizeTaxId(tax_id);
  return normalized === '' ? null : hmac(key, 'kyc tax_id', normalized);
};
