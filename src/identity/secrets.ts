import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A secret of a cookie or a link: 256 random bits, base64url. The database keeps its SHA-256 only. */
export const createSecret = (): string => randomBytes(32).toString('base64url');

/** 256 random bits need no slow hash. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** What a browser keeps in which this operator has signed in with this password. Only who reads the hash can make it. */
export const browserProof = (login: string, password_hash: string): string =>
  createHmac('sha256', password_hash).update(`browser:${login}`).digest('base64url');

export const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(hashSecret(one), hashSecret(other));
