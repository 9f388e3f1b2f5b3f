import { randomBytes } from 'node:crypto';
import { decrypt, encrypt, type Key, NONCE_BYTES, TAG_BYTES } from '#src/sealing/aes-gcm.ts';
import { KeyError } from '#src/sealing/errors.ts';

const OVERHEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** The record that a sealed value belongs to. */
export type SealedRecord = { table: string; record_id: string };
/** Where a value was sealed; it opens nowhere else. `boundTo`: further values that must be equal when it is opened. */
export type SealedPlace = SealedRecord & { column: string; boundTo?: readonly string[] };

/** Versions of the byte format (docs/kyc.md), the first byte of a sealed value. */
const FORMAT = { plain: 1, bound: 2 } as const;
const formatOf = ({ boundTo }: SealedPlace): number => (boundTo === undefined ? FORMAT.plain : FORMAT.bound);

/** A record's name for messages. */
export const nameRecord = ({ table, record_id }: SealedRecord): string => `row ${record_id} of ${table}`;
const namePlace = ({ table, column, record_id }: SealedPlace): string => `${table}.${column} ${record_id}`;

/** Each part after its length (4 bytes, big-endian), so that different lists of parts give different bytes. */
export const lengthPrefixed = (...parts: readonly (string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as Uint8Array);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );

/** The tag covers the place as well (docs/kyc.md, "The byte format"), so a value moved elsewhere does not open. */
export const additionalData = (place: SealedPlace): Uint8Array =>
  lengthPrefixed(
    Uint8Array.of(formatOf(place)),
    place.table,
    place.column,
    place.record_id,
    ...(place.boundTo ?? []),
  );

/**
 * Seals bytes for one place under a data key.
 * @returns version (1 byte), nonce (12), ciphertext (as long as the plaintext), tag (16)
 */
export const sealValue = (key: Key, place: SealedPlace, plaintext: Uint8Array): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES);
  return Buffer.concat([
    Uint8Array.of(formatOf(place)),
    nonce,
    encrypt(key, nonce, additionalData(place), plaintext),
  ]);
};

/**
 * Opens what `sealValue` returned for the same place under the same key.
 * @throws KeyError `unknown_version` or `does_not_open`, which names the place and not its content
 */
export const openValue = (key: Key, place: SealedPlace, sealed: Uint8Array): Uint8Array => {
  const version = sealed[0];
  if (version !== undefined && version !== formatOf(place)) {
    throw new KeyError(
      'unknown_version',
      `${namePlace(place)} is sealed in format ${version}; this release reads format ${formatOf(place)}.`,
    );
  }
  const [nonce, encrypted] = [sealed.subarray(1, 1 + NONCE_BYTES), sealed.subarray(1 + NONCE_BYTES)];
  const isLongEnough = sealed.length >= OVERHEAD_BYTES;
  const opened = isLongEnough ? decrypt(key, nonce, additionalData(place), encrypted) : undefined;
  if (opened !== undefined) return opened;
  throw new KeyError(
    'does_not_open',
    `${namePlace(place)} does not open: its bytes are not what was sealed there.`,
  );
};
