/** One-time sign-in links. */
import type { Queryable } from '#db/client.ts';
import { insertLink } from '#db/queries/sign-in.ts';
import type { Role } from '#src/contract/roles.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';

const LINK_LIFETIME_MS = 15 * 60_000;

/** Creates a link; the operator's older ones end. @returns its secret */
export const createLink = async (tx: Queryable, login: string, sets_password: boolean): Promise<string> => {
  const secret = createSecret();
  const link = { link_hash: hashSecret(secret), login, sets_password, lifetime_ms: LINK_LIFETIME_MS };
  await insertLink(tx, link);
  return secret;
};

/**
 * The address of a one-time sign-in link. KYC officers open theirs at the KYC desk, which keeps their passwords.
 * @param sites the public addresses
 */
export const signInUrl = (
  sites: { console: string; kycDesk: string },
  { roles, secret }: { roles: readonly Role[]; secret: string },
): string =>
  new URL(`/sign-in?link=${secret}`, roles.includes('kyc_officer') ? sites.kycDesk : sites.console).href;
