import { randomBytes } from 'node:crypto';
import { decrypt, encrypt, type Key, NONCE_BYTES, TAG_BYTES } from '#src/sealing/aes-gcm.ts';
import { KeyError } from '#src/sealing/errors.ts';

/** The version of the byte format, its first byte. */
export const SEALED_VERSION = 1;
const OVERHEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** The one record that a sealed value belongs to. */
export type SealedRecord = { table: string; record_id: string };
/** The one place where a sealed value opens. */
export type SealedPlace = SealedRecord & { column: string };

export const nameRecord = ({ table, record_id }: SealedRecord): string => `${table} ${record_id}`;
export const namePlace = ({ table, column, record_id }: SealedPlace): string =>
  `${table}.${column} ${record_id}`;

/** Each part behind its length (4 bytes, big-endian): no two lists of parts give the same bytes. */
export const lengthPrefixed = (...parts: readonly (string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as Uint8Array);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );

/** What the tag covers beside the ciphertext (design, section 7): a value moved elsewhere does not open. */
export const additionalData = (version: number, { table, column, record_id }: SealedPlace): Uint8Array =>
  lengthPrefixed(Uint8Array.of(version), table, column, record_id);

/**
 * Seal bytes for one place under a data key.
 * @returns version (1 byte), nonce (12), ciphertext (as long as the plaintext), tag (16)
 */
export const sealValue = (key: Key, place: SealedPlace, plaintext: Uint8Array): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES);
  const sealed = encrypt(key, nonce, additionalData(SEALED_VERSION, place), plaintext);
  return Buffer.concat([Uint8Array.of(SEALED_VERSION), nonce, sealed]);
};

/**
 * Open what `sealValue` gave for the same place under the same key.
 * @throws KeyError `unknown_version` or `does_not_open`, which names the place and not its content
 */
export const openValue = (key: Key, place: SealedPlace, sealed: Uint8Array): Uint8Array => {
  const version = sealed[0];
  if (version !== undefined && version !== SEALED_VERSION) {
    throw new KeyError(
      'unknown_version',
      `${namePlace(place)} is sealed in format ${version}; this release reads format ${SEALED_VERSION}.`,
    );
  }
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const opened =
    sealed.length < OVERHEAD_BYTES
      ? undefined
      : decrypt(key, nonce, additionalData(SEALED_VERSION, place), sealed.subarray(1 + NONCE_BYTES));
  if (opened !== undefined) return opened;
  throw new KeyError(
    'does_not_open',
    `${namePlace(place)} does not open: its bytes are not what was sealed there.`,
  );
};
