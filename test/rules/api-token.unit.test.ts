import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { createApiToken } from '#src/identity/secrets.ts';
import { hashApiToken, isApiToken, proveApiToken } from '#src/rules/api-token.ts';

/** A text followed by its checksum: 4 bytes of CRC-32, big-endian, in base64url. */
const withChecksum = (body: string): string => {
  const bytes = Buffer.from(crc32(body).toString(16).padStart(8, '0'), 'hex');
  return body + bytes.toString('base64url');
};

const RANDOM = 'A'.repeat(43);

it('a token has a prefix, 256 random bits and a checksum that detects typing errors', () => {
  const tokens = Array.from({ length: 200 }, createApiToken);
  expect(new Set(tokens).size).toBe(200);
  for (const token of tokens) {
    expect(token).toMatch(/^gct_[A-Za-z0-9_-]{49}$/);
    expect(token).toBe(withChecksum(token.slice(0, -6)));
    expect(isApiToken(token)).toBe(true);
    for (let at = 4; at < 47; at += 7) {
      const mistyped = token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);
      expect(isApiToken(mistyped)).toBe(false);
    }
    expect(isApiToken(token.slice(0, -1))).toBe(false);
  }
});

it.for<[isToken: boolean, what: string, text: string]>([
  [true, 'a prefix, 43 characters and their checksum', withChecksum(`gct_${RANDOM}`)],
  [false, 'another checksum', `gct_${RANDOM}AAAAAA`],
  [false, 'another prefix', withChecksum(`ghp_${RANDOM}`)],
  [false, 'something before the prefix', withChecksum(`Bearer gct_${RANDOM}`)],
  [false, 'something after the checksum', `${withChecksum(`gct_${RANDOM}`)}\n`],
  [false, 'fewer random characters', withChecksum(`gct_${RANDOM.slice(1)}`)],
  [false, 'more random characters', withChecksum(`gct_${RANDOM}A`)],
  [false, 'characters outside base64url', withChecksum(`gct_${RANDOM.slice(1)}+`)],
  [false, 'nothing', ''],
])('isApiToken is %s for a text with %s', ([isToken, , text]) => {
  expect(isApiToken(text)).toBe(isToken);
});

it('a token is stored as the SHA-256 of its proof, which is not the token', () => {
  const token = withChecksum(`gct_${RANDOM}`);
  expect(hashApiToken(token).toString('hex')).toBe(hash('sha256', proveApiToken(token)));
  expect(hashApiToken(token)).toHaveLength(32);
});
