import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

const CIPHER = 'aes-256-gcm';
/** Without the explicit length, Node before 26 accepts shorter tags. */
const OPTIONS = { authTagLength: TAG_BYTES };

/** A 256-bit key. Printing a KeyObject does not show its bytes. */
export type Key = KeyObject | Uint8Array;

/** Checks the length of a nonce, because GCM accepts any. Node checks the length of the key. */
const requireNonce = (nonce: Uint8Array): Uint8Array => {
  if (nonce.length === NONCE_BYTES) return nonce;
  throw new RangeError(`a nonce has ${NONCE_BYTES} bytes, this has ${nonce.length}`);
};

/**
 * Encrypts with AES-256-GCM; nothing else in the project encrypts. Never use a nonce twice under one key.
 * @returns the ciphertext, as long as the plaintext, followed by the tag (16 bytes)
 * @throws RangeError for a key that is not 32 bytes or a nonce that is not 12
 */
export const encrypt = (
  key: Key,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array => {
  const cipher = createCipheriv(CIPHER, key, requireNonce(nonce), OPTIONS).setAAD(additionalData);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
};

/**
 * Decrypts what `encrypt` returned.
 * @returns the plaintext, or undefined when the tag does not match key, nonce, additional data and ciphertext
 * @throws RangeError for a key that is not 32 bytes or a nonce that is not 12
 */
export const decrypt = (
  key: Key,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  encrypted: Uint8Array,
): Uint8Array | undefined => {
  const decipher = createDecipheriv(CIPHER, key, requireNonce(nonce), OPTIONS).setAAD(additionalData);
  try {
    decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(encrypted.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
};
