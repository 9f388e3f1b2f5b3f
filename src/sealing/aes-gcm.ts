import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

const CIPHER = 'aes-256-gcm';
/** Always given: without it Node accepts tags cut to four bytes. */
const OPTIONS = { authTagLength: TAG_BYTES };

/** A 256-bit key. A KeyObject does not show its bytes when it is printed. */
export type Key = KeyObject | Uint8Array;

const assertLengths = (key: Key, nonce: Uint8Array): void => {
  const keyBytes = key instanceof Uint8Array ? key.length : key.symmetricKeySize;
  if (keyBytes !== KEY_BYTES)
    throw new RangeError(`an AES-256 key has ${KEY_BYTES} bytes, this has ${keyBytes}`);
  if (nonce.length !== NONCE_BYTES)
    throw new RangeError(`a nonce has ${NONCE_BYTES} bytes, this has ${nonce.length}`);
};

/**
 * AES-256-GCM, the one place that encrypts. A nonce must never be used twice under one key.
 * @returns the ciphertext, as long as the plaintext, and the tag of 16 bytes behind it
 * @throws RangeError for a key that has not 32 bytes or a nonce that has not 12
 */
export const encrypt = (
  key: Key,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array => {
  assertLengths(key, nonce);
  const cipher = createCipheriv(CIPHER, key, nonce, OPTIONS).setAAD(additionalData);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
};

/**
 * The reverse of `encrypt`.
 * @param sealed ciphertext and tag
 * @returns the plaintext, or undefined when the tag does not fit key, nonce, additional data and ciphertext
 * @throws RangeError for a key that has not 32 bytes or a nonce that has not 12
 */
export const decrypt = (
  key: Key,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined => {
  assertLengths(key, nonce);
  const length = sealed.length - TAG_BYTES;
  if (length < 0) return undefined;
  const decipher = createDecipheriv(CIPHER, key, nonce, OPTIONS).setAAD(additionalData);
  decipher.setAuthTag(sealed.subarray(length));
  const plaintext = decipher.update(sealed.subarray(0, length));
  try {
    decipher.final();
    return plaintext;
  } catch {
    return undefined;
  }
};
