import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Says what it is, to people and to scanners that look for leaked secrets. */
const PREFIX = 'gct_';
const RANDOM_BYTES = 32;
const CHECKSUM_BYTES = 4;
/** base64url of 32 bytes, then of 4. */
const SHAPE = /^gct_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/;

const checksumOf = (body: string): string => {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64url');
};

/** A new access token: the prefix, 256 random bits, and a CRC-32 of both that tells a slip from a token. */
export const createAccessToken = (): string => {
  const body = PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
  return body + checksumOf(body);
};

/** Could we have made this? False for what was cut, mistyped or made up: then there is nothing to look up. */
export const isAccessToken = (text: string): boolean =>
  SHAPE.test(text) && checksumOf(text.slice(0, -6)) === text.slice(-6);

/** What is stored of a token: SHA-256, 32 bytes. */
export const hashAccessToken = (token: string): Buffer => hash('sha256', token, 'buffer');
