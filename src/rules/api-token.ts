import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Marks the token as ours, for people and for scanners that look for leaked secrets. */
const PREFIX = 'gct_';
const CHECKSUM_BYTES = 4;
/** The prefix, 32 random bytes and 4 bytes of checksum, the latter two in base64url. */
const TOKEN = /gct_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}/;
const SHAPE = new RegExp(`^${TOKEN.source}$`);

const checksumOf = (body: string): string => {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64url');
};

/** Writes an API token. Its CRC-32 detects typing errors. @param secret 32 random bytes in base64url */
export const formatApiToken = (secret: string): string => {
  const body = PREFIX + secret;
  return body + checksumOf(body);
};

/** Does the text have the shape and the checksum of an API token? If not, no database lookup is needed. */
export const isApiToken = (text: string): boolean =>
  SHAPE.test(text) && checksumOf(text.slice(0, -6)) === text.slice(-6);

/** Is a text of the shape of an API token a part of this one? */
export const hasApiToken = (text: string): boolean => TOKEN.test(text);

/** Returns the proof for Postgres that a caller has the token: its SHA-256. The proof is not stored, and is no token. */
export const proveApiToken = (token: string): Buffer => hash('sha256', token, 'buffer');

/** @returns SHA-256 of the proof, 32 bytes: the only form that is stored */
export const hashApiToken = (token: string): Buffer => hash('sha256', proveApiToken(token), 'buffer');
