/** Confirms that the person at a session is its operator, by the password or by a fresh sign-in at the OIDC provider. */
import type { Database, Queryable } from '#db/client.ts';
import { findOperator } from '#db/queries/operators.ts';
import {
  type ConfirmationMethod,
  findConfirmationMethod,
  forgetAttempts,
  takeConfirmation,
} from '#db/queries/sign-in.ts';
import { isFresh } from '#src/identity/oidc-claims.ts';
import { verifyPassword } from '#src/identity/password.ts';
import { recordRefusedSignIn } from '#src/identity/refusals.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { confirmKey, countAttempt, type SignInRefusal } from '#src/identity/sign-in.ts';

type ConfirmationResult = { kind: 'confirmed' } | SignInRefusal;

/** Reads by which method `confirmOperator` confirms the operator of this session. */
export const readConfirmationMethod = (
  sql: Queryable,
  session: string,
): Promise<ConfirmationMethod | undefined> => findConfirmationMethod(sql, hashSecret(session));

/**
 * Has the provider just checked the credentials, and has no earlier session used that check? A provider that does not check
 * them again repeats the same `auth_time` at each sign-in, to both sites. @param auth_time of the ID token
 */
export const takeFreshCheck = async (sql: Queryable, login: string, auth_time: unknown): Promise<boolean> =>
  isFresh(auth_time) && (await countAttempt(sql, [`fresh:${login}:${auth_time}`], 1)) === 0;

/**
 * Verifies the password of an operator who is signed in. Wrong passwords are not counted with those of sign-ins, so only
 * a session of the operator can reach the limit. The caller writes a refusal to the audit log.
 */
export const tryPassword = async (
  sql: Queryable,
  { login, password_hash }: { login: string; password_hash: string },
  password: string,
): Promise<ConfirmationResult> => {
  const keys = [confirmKey(login)];
  const waitSeconds = await countAttempt(sql, keys);
  if (waitSeconds > 0) return { kind: 'too_many', waitSeconds };
  if (!(await verifyPassword(password, password_hash))) return { kind: 'refused' };
  await forgetAttempts(sql, keys);
  return { kind: 'confirmed' };
};

/**
 * Confirms who uses a session, before a KYC record is revealed or an operator is changed. An operator with a password gives
 * it again. Any other operator must have signed in at the OIDC provider within five minutes; one such sign-in confirms once.
 */
export const confirmOperator = async (
  sql: Database,
  { session, login, password }: { session: string; login: string; password: string },
  address: string,
): Promise<ConfirmationResult> => {
  const operator = await findOperator(sql, login);
  const password_hash = operator?.password_hash ?? null;
  if (password_hash === null)
    return { kind: (await takeConfirmation(sql, hashSecret(session))) ? 'confirmed' : 'refused' };
  const tried = await tryPassword(sql, { login, password_hash }, password);
  if (tried.kind === 'refused') await recordRefusedSignIn(sql, login, 'wrong password to confirm', address);
  return tried;
};
