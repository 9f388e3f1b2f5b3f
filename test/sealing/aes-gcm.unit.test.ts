import { createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decrypt, encrypt, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from '#src/sealing/aes-gcm.ts';

const key = randomBytes(KEY_BYTES);
const nonce = randomBytes(NONCE_BYTES);
const context = Buffer.from('acme.tax_id');

it('returns a plaintext of any length for the same key, nonce and additional data', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (plaintext) => {
      const encrypted = encrypt(key, nonce, context, plaintext);
      expect(encrypted.length).toBe(plaintext.length + TAG_BYTES);
      const decrypted = decrypt(createSecretKey(key), nonce, context, encrypted);
      expect(Buffer.from(decrypted ?? 'nothing')).toEqual(Buffer.from(plaintext));
    }),
  );
});

/** From the GCM specification (McGrew and Viega), test case 16. */
it('encrypts as the specification does', () => {
  const hex = (text: string) => Buffer.from(text, 'hex');
  const encrypted = encrypt(
    hex('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308'),
    hex('cafebabefacedbaddecaf888'),
    hex('feedfacedeadbeeffeedfacedeadbeefabaddad2'),
    hex(
      'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
    ),
  );
  expect(Buffer.from(encrypted).toString('hex')).toBe(
    '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b',
  );
});

it('returns nothing when any bit of nonce, additional data, ciphertext or tag has changed', () => {
  const encrypted = encrypt(key, nonce, context, Buffer.from('123-456'));
  const flipped = (bytes: Uint8Array, bit: number) => {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return copy;
  };
  for (let bit = 0; bit < encrypted.length * 8; bit += 1)
    expect(decrypt(key, nonce, context, flipped(encrypted, bit))).toBe(undefined);
  for (let bit = 0; bit < nonce.length * 8; bit += 1)
    expect(decrypt(key, flipped(nonce, bit), context, encrypted)).toBe(undefined);
  for (let bit = 0; bit < context.length * 8; bit += 1)
    expect(decrypt(key, nonce, flipped(context, bit), encrypted)).toBe(undefined);
  expect(decrypt(randomBytes(KEY_BYTES), nonce, context, encrypted)).toBe(undefined);
});

it('returns nothing for bytes that are shorter than a tag', () => {
  for (let length = 0; length < TAG_BYTES; length += 1)
    expect(decrypt(key, nonce, context, randomBytes(length))).toBe(undefined);
});

it('throws for keys and nonces of other lengths', () => {
  for (const length of [0, 11, 13, 16]) {
    const message = `a nonce has 12 bytes, this has ${length}`;
    expect(() => encrypt(key, randomBytes(length), context, context)).toThrow(new RangeError(message));
    expect(() => decrypt(key, randomBytes(length), context, randomBytes(32))).toThrow(
      new RangeError(message),
    );
  }
  for (const length of [0, 16, 31, 33]) {
    expect(() => encrypt(randomBytes(length), nonce, context, context)).toThrow(RangeError);
    expect(() => decrypt(randomBytes(length), nonce, context, randomBytes(32))).toThrow(RangeError);
  }
});
