import { createHmac, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '#db/client.ts';
import { findFingerprintKey, insertFingerprintKey } from '#db/queries/kyc.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { KYC_SEALED_FIELDS, type KycSealedField } from '#src/contract/application.ts';
import type { KycFields } from '#src/kyc/record.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { lengthPrefixed, type SealedRecord } from '#src/sealing/sealed-value.ts';

/** The record that the fingerprint key is wrapped for. */
export const FINGERPRINT_KEY: SealedRecord = { table: 'kyc_keys', record_id: 'fingerprint' };

/** The fingerprint key in clear (32 bytes), and its wraps when it was opened. */
export type FingerprintKey = { key: Uint8Array; wraps: WrappedKey[] };

/** Caches the key that each ring opened last. Without this cache every pull would call the key service. */
const opened = new WeakMap<KeyRing, { key: Promise<Uint8Array>; wraps: WrappedKey[] }>();

/**
 * Opens the installation's fingerprint key; the first call creates it. The key is random and stored wrapped, so
 * fingerprints survive a change of ENCRYPTION_KEYS. A process that cannot open it seals nothing. Call it outside
 * transactions, because a slow key service must not occupy a connection.
 * @throws KeyError `no_key`, `unknown_key`, `does_not_open` or `key_service`
 */
export const openFingerprintKey = async (sql: Database, keys: KeyRing): Promise<FingerprintKey> => {
  const wraps = (await findFingerprintKey(sql)) ?? (await createFingerprintKey(sql, keys));
  let latest = opened.get(keys);
  if (latest === undefined || !isDeepStrictEqual(latest.wraps, wraps)) {
    latest = { wraps, key: unwrapDataKey(keys.records, wraps, FINGERPRINT_KEY) };
    opened.set(keys, latest);
    // A failure is not cached, because the key service may respond next time.
    latest.key.catch(() => opened.delete(keys));
  }
  return { wraps, key: await latest.key };
};

const createFingerprintKey = async (sql: Database, keys: KeyRing): Promise<WrappedKey[]> => {
  const wraps = await wrapDataKey(keys.records, randomBytes(KEY_BYTES), FINGERPRINT_KEY);
  await insertFingerprintKey(sql, wraps);
  // Another process may have stored its key first.
  return (await findFingerprintKey(sql)) ?? [];
};

const hmac = (key: Uint8Array, ...parts: readonly string[]): Uint8Array =>
  createHmac('sha256', key)
    .update(lengthPrefixed(...parts))
    .digest();

/** HMAC-SHA-256 over the nine fields: equal to the stored one means that nothing changed. */
export const recordFingerprint = (key: Uint8Array, application_id: string, fields: KycFields): Uint8Array =>
  hmac(key, 'kyc record', application_id, ...KYC_SEALED_FIELDS.map((field) => fields[field]));

/** Bytes of one field's fingerprint. */
const FIELD_BYTES = 16;

/**
 * A fingerprint of each field for one version of one application's record. Equal values have different fingerprints in
 * another field, version or application, so a dump does not show which values are equal; comparing a value requires the key.
 * @returns HMAC-SHA-256 of each field, cut to 16 bytes, in the order of `KYC_SEALED_FIELDS`
 */
export const fieldFingerprints = (
  key: Uint8Array,
  { application_id, record_id }: { application_id: string; record_id: string },
  fields: KycFields,
): Uint8Array =>
  Buffer.concat(
    KYC_SEALED_FIELDS.map((field) =>
      hmac(key, 'kyc field', application_id, record_id, field, fields[field]).subarray(0, FIELD_BYTES),
    ),
  );

/**
 * The fields whose values differ from a stored version, without opening it.
 * @returns names in the order of `KYC_SEALED_FIELDS`
 */
export const changedFields = (
  key: Uint8Array,
  stored: { application_id: string; record_id: string; field_fingerprints: Uint8Array },
  fields: KycFields,
): KycSealedField[] => {
  const { field_fingerprints: before } = stored;
  const now = fieldFingerprints(key, stored, fields);
  const part = (all: Uint8Array, index: number) =>
    all.subarray(index * FIELD_BYTES, (index + 1) * FIELD_BYTES);
  return KYC_SEALED_FIELDS.filter((_, index) => Buffer.compare(part(before, index), part(now, index)) !== 0);
};

/** HMAC-SHA-256 over the tax id, the same for every application; null for an empty one. */
export const taxIdFingerprint = (key: Uint8Array, tax_id: string): Uint8Array | null => {
  // Letters and digits alone, because "DE 123-456" and "de123456" are one company.
  const normalized = tax_id
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return normalized === '' ? null : hmac(key, 'kyc tax_id', normalized);
};
