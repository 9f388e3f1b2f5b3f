/** What the claims of an OpenID Connect provider say about an operator. */
import { ROLES, type Role } from '#src/contract/roles.ts';

export type RoleSettings = {
  /** The claim that holds groups: an array of strings, or one string. */
  rolesClaim: string;
  /** The roles of each group. */
  roles: ReadonlyMap<string, readonly Role[]>;
};

/** From the credentials to the return; allows for clocks that differ. */
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

const toLogin = (claim: unknown): string =>
  (typeof claim === 'string' ? claim : '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._@+-]/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 100);

/**
 * The login of a new operator: the email address unless the provider says that it is not verified, else the name, else the
 * subject. Empty: none of them has a character of a login.
 */
export const loginOf = ({
  email,
  email_verified,
  preferred_username,
  sub,
}: Record<string, unknown>): string =>
  toLogin(email_verified === false ? undefined : email) || toLogin(preferred_username) || toLogin(sub);

/** The name of an operator, without characters that control a text or its direction; the login if there is none. */
export const nameOf = ({ name }: Record<string, unknown>, login: string): string =>
  (typeof name === 'string' ? name : '')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, 200) || login;
