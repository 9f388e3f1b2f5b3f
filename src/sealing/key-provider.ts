import { createSecretKey } from 'node:crypto';
import type { WrappedKey } from '#db/schema/applications.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { isKeyError, KeyError } from '#src/sealing/errors.ts';
import { nameRecord, openValue, type SealedRecord, sealValue } from '#src/sealing/sealed-value.ts';

/** One key-encryption key, in this process or in a key service. */
export type KeyProvider = {
  /** Stored beside every data key that this key wraps. */
  readonly key_id: string;
  /** Wrap a data key (32 bytes) for one record. @throws KeyError `key_service` */
  wrap: (dataKey: Uint8Array, record: SealedRecord) => Promise<Uint8Array>;
  /** Unwrap a data key that was wrapped for this record. @throws KeyError `does_not_open`, `unknown_version` or `key_service` */
  unwrap: (wrapped: Uint8Array, record: SealedRecord) => Promise<Uint8Array>;
};

/** The keys of a process. */
export type KeyRing = {
  /** For KYC records: the first seals, all open. Empty: this process has no key for records. */
  readonly records: readonly KeyProvider[];
  /** For access tokens and event secrets: these seal; these and the keys for records open. */
  readonly tokens: readonly KeyProvider[];
};

/** A key-encryption key in this process. A wrapped data key has the byte format of a sealed value. @param key 32 bytes */
export const localKey = (key_id: string, key: Uint8Array): KeyProvider => {
  const secret = createSecretKey(key);
  const column = 'data_key';
  return {
    key_id,
    wrap: async (dataKey, record) => sealValue(secret, { ...record, column }, dataKey),
    unwrap: async (wrapped, record) => openValue(secret, { ...record, column }, wrapped),
  };
};

/** Wrap a data key by each of these keys. @throws KeyError `no_key` when there is none, or `key_service` */
export const wrapDataKey = async (
  providers: readonly KeyProvider[],
  dataKey: Uint8Array,
  record: SealedRecord,
): Promise<WrappedKey[]> => {
  if (providers.length === 0) {
    throw new KeyError(
      'no_key',
      `There is no key to seal ${nameRecord(record)}: set ENCRYPTION_KEYS (or, on the embedded database, a writable CATALOGUE_HOME).`,
    );
  }
  return Promise.all(
    providers.map(async (provider) => ({
      key_id: provider.key_id,
      wrapped: Buffer.from(await provider.wrap(dataKey, record)).toString('base64'),
    })),
  );
};

/**
 * Unwrap a data key that was wrapped by several keys: the first wrap that opens counts. The key of each wrap is found by
 * its id.
 * @throws KeyError `unknown_key` if `providers` has the key of no wrap, else the failure of the last wrap
 */
export const unwrapDataKey = async (
  providers: readonly KeyProvider[],
  wraps: readonly WrappedKey[],
  record: SealedRecord,
): Promise<Uint8Array> => {
  let failure: KeyError | undefined;
  for (const { key_id, wrapped } of wraps) {
    const provider = providers.find((candidate) => candidate.key_id === key_id);
    if (provider === undefined) continue;
    try {
      const dataKey = await provider.unwrap(Buffer.from(wrapped, 'base64'), record);
      if (dataKey.length === KEY_BYTES) return dataKey;
      const bytes = `${dataKey.length} bytes instead of ${KEY_BYTES}`;
      failure = new KeyError('does_not_open', `The data key of ${nameRecord(record)} has ${bytes}.`);
    } catch (error) {
      if (!isKeyError(error)) throw error;
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  const needed = wraps.map((wrap) => wrap.key_id).join(' or ') || 'none';
  const present = [...new Set(providers.map((provider) => provider.key_id))].join(', ') || 'none';
  throw new KeyError(
    'unknown_key',
    `${nameRecord(record)} is sealed under key ${needed}, which this process does not have (it has: ${present}). See ENCRYPTION_KEYS.`,
  );
};
