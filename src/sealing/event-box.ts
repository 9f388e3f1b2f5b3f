/**
 * Seals event secrets where there are no keys: for the portal and the console. X25519 and HKDF (RFC 9180) give the key
 * that seals the data key. The private key is in `kyc_keys`, wrapped, and a worker that has the keys opens it.
 */
import {
  createPrivateKey,
  createPublicKey,
  decapsulate,
  encapsulate,
  generateKeyPairSync,
} from 'node:crypto';
import type { Queryable } from '#db/client.ts';
import { findEventBox, findEventBoxKey, insertEventBox } from '#db/queries/kyc.ts';
import { KeyError } from '#src/sealing/errors.ts';
import { type KeyProvider, type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { nameRecord, openValue, type SealedRecord, sealValue } from '#src/sealing/sealed-value.ts';

/** No entry of ENCRYPTION_KEYS has this id. */
const KEY_ID = 'box:events';
const BOX: SealedRecord = { table: 'kyc_keys', record_id: 'events' };
const CAPSULE_BYTES = 32;
/** The tables of event secrets. */
const EVENT_TABLES = ['event_webhooks', 'event_subscriptions'];

const placeOf = (record: SealedRecord) => ({ ...record, column: 'data_key' });

/** Creates the key pair of the installation if there is none. @throws KeyError `no_key` or `key_service` */
export const createEventBox = async (sql: Queryable, keys: KeyRing): Promise<void> => {
  if ((await findEventBox(sql)) !== undefined) return;
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const wraps = await wrapDataKey(keys.records, privateKey.export({ format: 'raw-private' }), BOX);
  await insertEventBox(sql, publicKey.export({ format: 'raw-public' }), wraps);
};

/**
 * The keys of a process that has none of its own. With them it seals event secrets, and opens nothing.
 * @throws KeyError `no_key` before a worker has created the key pair
 */
export const readSealingRing = async (sql: Queryable): Promise<KeyRing> => {
  const key = await findEventBoxKey(sql);
  if (key === undefined)
    throw new KeyError('no_key', 'No worker that has ENCRYPTION_KEYS has started yet: retry when one runs.');
  const publicKey = createPublicKey({
    key: Buffer.from(key),
    format: 'raw-public',
    asymmetricKeyType: 'x25519',
  });
  const box: KeyProvider = {
    key_id: KEY_ID,
    wrap: async (dataKey, record) => {
      const { sharedKey, ciphertext } = encapsulate(publicKey);
      return Buffer.concat([ciphertext, sealValue(sharedKey, placeOf(record), dataKey)]);
    },
    unwrap: async () => {
      throw new KeyError('unknown_key', 'This process opens no secret: it has the public key alone.');
    },
  };
  return { records: [], tokens: [box] };
};

/** The keys of a process, with the one that opens what `readSealingRing` sealed. It opens only event secrets. */
export const withEventBox = (sql: Queryable, keys: KeyRing): KeyRing => {
  const box: KeyProvider = {
    key_id: KEY_ID,
    wrap: async () => {
      throw new KeyError('no_key', 'A process that has keys seals by them.');
    },
    unwrap: async (wrapped, record) => {
      // Who has the public key alone, as the database has it, could forge any other record.
      if (!EVENT_TABLES.includes(record.table))
        throw new KeyError('unknown_key', `The ${nameRecord(record)} is sealed under ${KEY_ID}.`);
      const wraps = (await findEventBox(sql)) ?? [];
      const key = Buffer.from(await unwrapDataKey(keys.records, wraps, BOX));
      const privateKey = createPrivateKey({ key, format: 'raw-private', asymmetricKeyType: 'x25519' });
      const shared = decapsulate(privateKey, wrapped.subarray(0, CAPSULE_BYTES));
      return openValue(shared, placeOf(record), wrapped.subarray(CAPSULE_BYTES));
    },
  };
  return { ...keys, tokens: [...keys.tokens, box] };
};
