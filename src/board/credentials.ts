import { createHash, timingSafeEqual } from 'node:crypto';

/** Who may use the board: BOARD_USER and BOARD_PASSWORD, or what somebody typed for them. */
export type Login = { user: string; password: string };

// timingSafeEqual wants equal lengths; digests have them whatever was typed.
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A check of typed credentials against `login` that takes as long whatever is wrong with them. */
export const createVerifier = (login: Login): ((typed: Login) => boolean) => {
  const user = digest(login.user);
  const password = digest(login.password);
  return (typed) => {
    const userMatches = timingSafeEqual(digest(typed.user), user);
    const passwordMatches = timingSafeEqual(digest(typed.password), password);
    return userMatches && passwordMatches;
  };
};

/** The credentials of an `Authorization: Basic` header (RFC 7617, as UTF-8); null when it is none. */
export const parseBasic = (header: string | undefined): Login | null => {
  const encoded = /^basic +([a-z0-9+/_=-]+) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon === -1 ? null : { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
};
