import { createSecretKey } from 'node:crypto';
import type { WrappedKey } from '#db/schema/applications.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { KeyError } from '#src/sealing/errors.ts';
import { nameRecord, openValue, type SealedRecord, sealValue } from '#src/sealing/sealed-value.ts';

/** One key-encryption key, in this process or in a key service. */
export type KeyProvider = {
  /** Stored beside every data key that this key wraps. */
  readonly key_id: string;
  /** Wraps a data key (32 bytes) for one record. @throws KeyError `key_service` */
  wrap: (dataKey: Uint8Array, record: SealedRecord) => Promise<Uint8Array>;
  /** Unwraps a data key that was wrapped for this record. @throws KeyError `does_not_open`, `unknown_version` or `key_service` */
  unwrap: (wrapped: Uint8Array, record: SealedRecord) => Promise<Uint8Array>;
};

/** The keys of a process. */
export type KeyRing = {
  /** Keys for KYC records. The first seals, all open. Empty: this process has no key for records. */
  readonly records: readonly KeyProvider[];
  /** Keys for access tokens and event secrets. The first seals; all of them and the keys for records open. */
  readonly tokens: readonly KeyProvider[];
};

/** A key-encryption key in this process. A wrapped data key has the byte format of a sealed value. @param key 32 bytes */
export const localKey = (key_id: string, key: Uint8Array): KeyProvider => {
  const secret = createSecretKey(key);
  const column = 'data_key';
  return {
    key_id,
    wrap: async (dataKey, record) => sealValue(secret, { ...record, column }, dataKey),
    unwrap: async (wrapped, record) => {
      try {
        return openValue(secret, { ...record, column }, wrapped);
      } catch (cause) {
        if (!(cause instanceof KeyError) || cause.code !== 'does_not_open') throw cause;
        const why = 'this process has another key of that id, or the row was changed';
        const message = `The data key of the ${nameRecord(record)} does not open under key ${key_id}: ${why}.`;
        throw new KeyError('does_not_open', message, { cause });
      }
    },
  };
};

/** Wraps a data key by the first of these keys. @throws KeyError `no_key` when there is none, or `key_service` */
export const wrapDataKey = async (
  [provider]: readonly KeyProvider[],
  dataKey: Uint8Array,
  record: SealedRecord,
): Promise<WrappedKey[]> => {
  if (provider === undefined) {
    throw new KeyError(
      'no_key',
      `There is no key to seal the ${nameRecord(record)}: set ENCRYPTION_KEYS (or, on the embedded database, a writable CATALOGUE_HOME).`,
    );
  }
  const wrapped = Buffer.from(await provider.wrap(dataKey, record)).toString('base64');
  return [{ key_id: provider.key_id, wrapped }];
};

/**
 * Unwraps a data key. The key that wraps it is found by its id.
 * @throws KeyError `unknown_key` if `providers` lacks that key, or the failure of the unwrapping
 */
export const unwrapDataKey = async (
  providers: readonly KeyProvider[],
  [wrap]: readonly WrappedKey[],
  record: SealedRecord,
): Promise<Uint8Array> => {
  const provider = providers.find(({ key_id }) => key_id === wrap?.key_id);
  if (wrap === undefined || provider === undefined) {
    const present = [...new Set(providers.map(({ key_id }) => key_id))].join(', ') || 'none';
    throw new KeyError(
      'unknown_key',
      `The ${nameRecord(record)} is sealed under key ${wrap?.key_id ?? 'none'}, which this process does not have (it has: ${present}). See ENCRYPTION_KEYS.`,
    );
  }
  const dataKey = await provider.unwrap(Buffer.from(wrap.wrapped, 'base64'), record);
  if (dataKey.length === KEY_BYTES) return dataKey;
  const bytes = `${dataKey.length} bytes instead of ${KEY_BYTES}`;
  throw new KeyError('does_not_open', `The data key of the ${nameRecord(record)} has ${bytes}.`);
};
