/** What the claims of an OpenID Connect provider say about an operator. */
import { LOGIN } from '#src/contract/operators.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';

export type RoleSettings = {
  /** The claim that holds groups: an array of strings, or one string. */
  rolesClaim: string;
  /** The roles of each group. */
  roles: ReadonlyMap<string, readonly Role[]>;
};

/** Longest time from the credentials to the return, including the difference of two clocks. */
const FRESH_S = 120;

/** @returns the roles of these claims, in the order of `ROLES` */
export const rolesOf = ({ rolesClaim, roles }: RoleSettings, claims: Record<string, unknown>): Role[] => {
  const groups = [claims[rolesClaim]].flat().filter((group) => typeof group === 'string');
  const mapped = new Set(groups.flatMap((group) => roles.get(group) ?? []));
  return ROLES.filter((role) => mapped.has(role));
};

/** Has the provider just checked the credentials (OpenID Connect Core 1.0, section 2)? @param auth_time in seconds */
export const isFresh = (auth_time: unknown): boolean =>
  typeof auth_time === 'number' && Math.abs(Date.now() / 1_000 - auth_time) < FRESH_S;

/** OpenID Connect Core 1.0, section 2: a subject has at most 255 ASCII characters. */
export const isSubject = (sub: unknown): boolean =>
  typeof sub === 'string' && /^[\x20-\x7e]{1,255}$/.test(sub);

/** In any case. Without the flag `u`, because with it some other letters match ASCII. */
const ANY_CASE = new RegExp(LOGIN, 'i');

/**
 * The login of a new operator: the email address if the provider has verified it, else the name, else the subject.
 * @returns undefined if it is no login as it is, because another spelling could be another person; or if the name is an
 * address other than the verified one and the provider says what it verified, because it could be another person's
 */
export const loginOf = ({
  email,
  email_verified,
  preferred_username,
  sub,
}: Record<string, unknown>): string | undefined => {
  const verified = email_verified === true ? email : '';
  const named = [verified, preferred_username, sub].find(
    (claim): claim is string => typeof claim === 'string' && claim !== '',
  );
  if (named === undefined || !ANY_CASE.test(named)) return undefined;
  const isUnverified = email_verified !== undefined && named !== verified;
  return isUnverified && named.includes('@') ? undefined : named.toLowerCase();
};

/** The claims of userinfo and, before them, of the ID token. `email_verified` is about the address that stands beside it. */
export const joinClaims = (
  userinfo: Record<string, unknown>,
  idToken: Record<string, unknown>,
): Record<string, unknown> => {
  const claims = { ...userinfo, ...idToken };
  const saysNothing = claims.email_verified === undefined;
  const { email_verified = saysNothing ? undefined : false } = 'email' in idToken ? idToken : userinfo;
  return { ...claims, email_verified };
};

/** The name of an operator, without characters that control a text or its direction; the login if there is none. */
export const nameOf = ({ name }: Record<string, unknown>, login: string): string =>
  (typeof name === 'string' ? name : '')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, 200) || login;
