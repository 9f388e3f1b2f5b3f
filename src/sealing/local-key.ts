import { createSecretKey } from 'node:crypto';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyProvider } from '#src/sealing/key-provider.ts';
import { nameRecord, openValue, sealValue } from '#src/sealing/sealed-value.ts';

/** The column that a wrapped data key is sealed for: the byte format is that of every sealed value. */
const COLUMN = 'data_key';

/** A key-encryption key held in this process. @param key 32 bytes */
export const localKey = (key_id: string, key: Uint8Array): KeyProvider => {
  const secret = createSecretKey(key);
  return {
    key_id,
    wrap: async (dataKey, record) => sealValue(secret, { ...record, column: COLUMN }, dataKey),
    unwrap: async (wrapped, record) => {
      const dataKey = openValue(secret, { ...record, column: COLUMN }, wrapped);
      if (dataKey.length === KEY_BYTES) return dataKey;
      throw new KeyError(
        'does_not_open',
        `Key ${key_id} opens the data key of ${nameRecord(record)}, and it is none.`,
      );
    },
  };
};
