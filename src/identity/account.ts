/** What operators do about their own sign-in: change the password, end their own sessions. */
import type { Database, Queryable } from '#db/client.ts';
import { operatorActor } from '#db/queries/audit.ts';
import { findOperator, lockOperator, type OperatorRow, updateOperator } from '#db/queries/operators.ts';
import {
  deleteLinksOf,
  deleteOtherSessions,
  deleteSessionById,
  findSession,
  listSessionsOf,
  type OwnSession,
  replaceSessionHash,
} from '#db/queries/sign-in.ts';
import { CatalogueError } from '#src/errors.ts';
import { recordOperator } from '#src/identity/operators.ts';
import { hashPassword, requireGoodPassword } from '#src/identity/password.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';
import { confirmPassword } from '#src/identity/sign-in.ts';

/** An operator with the secret of the session that acts. */
export type OwnSignIn = { login: string; session: string };

export type Account = {
  /** Where the roles come from, and whether the operator has a password here. */
  signs_in_by: 'oidc' | 'password' | 'link';
  sessions: OwnSession[];
};

const signsInBy = ({ oidc_subject, password_hash }: OperatorRow): Account['signs_in_by'] =>
  oidc_subject !== null ? 'oidc' : password_hash !== null ? 'password' : 'link';

/** Reads what the operator of a session may see of the own sign-in. */
export const readAccount = async (sql: Queryable, { login, session }: OwnSignIn): Promise<Account> => {
  const operator = await findOperator(sql, login);
  if (operator === undefined) throw new CatalogueError('There is no such operator.');
  return {
    signs_in_by: signsInBy(operator),
    sessions: await listSessionsOf(sql, login, hashSecret(session)),
  };
};

/**
 * Works in a transaction that has locked the operator, while the session that acts is open.
 * @throws CatalogueError if that session has ended
 */
const onOwnAccount = <Result>(
  sql: Database,
  { login, session }: OwnSignIn,
  work: (tx: Queryable, operator: OperatorRow) => Promise<Result>,
): Promise<Result> =>
  sql.begin(async (tx) => {
    const operator = await lockOperator(tx, login);
    const open = await findSession(tx, hashSecret(session), false);
    if (operator === undefined || open?.login !== login)
      throw new CatalogueError('This session has ended: sign in again.');
    return work(tx, operator);
  });

/** `session` is the new secret of the session, for the cookie; `ended` counts the other sessions. */
export type PasswordChange =
  | { kind: 'changed'; session: string; ended: number }
  | { kind: 'weak'; problem: string }
  | { kind: 'refused' }
  | { kind: 'too_many'; waitSeconds: number };

/** @returns what is wrong with the new password; undefined if it is good */
const problemOf = async (
  { login, name }: OperatorRow,
  { current, password }: { current: string; password: string },
): Promise<string | undefined> => {
  if (password.normalize('NFKC') === current.normalize('NFKC'))
    return 'The new password must differ from the current one.';
  try {
    await requireGoodPassword(password, [login, name]);
    return undefined;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return error.message;
  }
};

/**
 * Changes the password of the operator of a session. The session gets a new secret; every other session and every sign-in
 * link of the operator ends. A wrong current password counts with those of the sign-in.
 * @throws CatalogueError if the operator has no password, or the session has ended
 */
export const changePassword = async (
  sql: Database,
  own: OwnSignIn,
  typed: { current: string; password: string },
  address: string,
): Promise<PasswordChange> => {
  const { login } = own;
  const operator = await findOperator(sql, login);
  if (operator === undefined || operator.oidc_subject !== null || operator.password_hash === null)
    throw new CatalogueError('You have no password here.');
  const known = operator.password_hash;
  const problem = await problemOf(operator, typed);
  if (problem !== undefined) return { kind: 'weak', problem };
  const confirmed = await confirmPassword(
    sql,
    { login, password_hash: known },
    typed.current,
    'wrong current password for a new one',
    address,
  );
  if (confirmed.kind !== 'confirmed') return confirmed;
  const password_hash = await hashPassword(typed.password);
  return onOwnAccount(sql, own, async (tx, locked): Promise<PasswordChange> => {
    // Another change was first: what was given is the current password no more.
    if (locked.password_hash !== known) return { kind: 'refused' };
    await updateOperator(tx, login, { password_hash });
    const session = createSecret();
    await replaceSessionHash(tx, hashSecret(own.session), hashSecret(session));
    const ended = await deleteOtherSessions(tx, login, hashSecret(session));
    await deleteLinksOf(tx, login);
    const details = { sessions: ended, address };
    await recordOperator(tx, operatorActor(login), 'operator.password', login, details);
    return { kind: 'changed', session, ended };
  });
};

/**
 * Ends one session of the operator, or all but the one that acts.
 * @returns how many ended; 0 if the operator has no such session
 */
export const endOwnSessions = (
  sql: Database,
  own: OwnSignIn,
  which: { session_id: string } | 'others',
): Promise<number> =>
  onOwnAccount(sql, own, async (tx) => {
    const { login } = own;
    const ended =
      which === 'others'
        ? await deleteOtherSessions(tx, login, hashSecret(own.session))
        : Number(await deleteSessionById(tx, login, which.session_id));
    if (ended > 0) await recordOperator(tx, operatorActor(login), 'session.end', login, { sessions: ended });
    return ended;
  });
