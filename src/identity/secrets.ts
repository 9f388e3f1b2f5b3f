import { createHash, randomBytes } from 'node:crypto';

/** A secret of a cookie or a link: 256 random bits, base64url. The database keeps its SHA-256 only. */
export const createSecret = (): string => randomBytes(32).toString('base64url');

/** 256 random bits need no slow hash. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();
