import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { formatApiToken } from '#src/rules/api-token.ts';

/** A secret of a cookie or a link: 256 random bits, base64url. The database keeps its SHA-256 only. */
export const createSecret = (): string => randomBytes(32).toString('base64url');

/** Creates a random API token. */
export const createApiToken = (): string => formatApiToken(createSecret());

/** 256 random bits need no slow hash. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Makes the proof that a browser keeps after this operator signed in with this password. Making it requires the hash. */
export const browserProof = (login: string, password_hash: string): string =>
  createHmac('sha256', password_hash).update(`browser:${login}`).digest('base64url');

export const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(hashSecret(one), hashSecret(other));
