import { createHash, timingSafeEqual } from 'node:crypto';

/** BOARD_USER and BOARD_PASSWORD, or the credentials of a request. */
export type Login = { user: string; password: string };

// timingSafeEqual requires equal lengths.
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns a check of credentials against `login` in constant time. */
export const createVerifier = (login: Login): ((typed: Login) => boolean) => {
  const user = digest(login.user);
  const password = digest(login.password);
  return (typed) => {
    const userMatches = timingSafeEqual(digest(typed.user), user);
    const passwordMatches = timingSafeEqual(digest(typed.password), password);
    return userMatches && passwordMatches;
  };
};

/** @returns the credentials of an `Authorization: Basic` header (RFC 7617, UTF-8); null for any other header */
export const parseBasic = (header: string | undefined): Login | null => {
  const encoded = /^basic +([a-z0-9+/_=-]+) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon === -1 ? null : { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
};
