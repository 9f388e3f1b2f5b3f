/** How an operator gets a session: by password or by a one-time link. By OIDC: oidc.ts. */
import { isIPv6 } from 'node:net';
import type { Database, Queryable } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { findOperator, updateOperator } from '#db/queries/operators.ts';
import {
  countAttempts,
  deleteExpired,
  deleteSession,
  deleteSessionsOf,
  findLink,
  findProof,
  findSession,
  forgetAttempts,
  insertSession,
  type Link,
  type Proof,
  type SignedIn,
  takeConfirmation,
  takeLink,
} from '#db/queries/sign-in.ts';
import { hashPassword, requireGoodPassword, verifyPassword } from '#src/identity/password.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';

/** Sign-ins that fail within the window, for one network address and for one login. */
const ATTEMPTS_MAX = 10;
const WINDOW_MS = 15 * 60_000;

export type SignInResult =
  | { kind: 'signed_in'; session: string; login: string }
  | { kind: 'refused' }
  | { kind: 'too_many'; waitSeconds: number };

/** The first four groups of an IPv6 address: the owner of a /64 can use any address in it. */
export const networkOf = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '');
  const zeros = Array<string>(Math.max(0, 8 - groups(head).length - groups(tail).length)).fill('0');
  return [...groups(head), ...(plain.includes('::') ? zeros : []), ...groups(tail)].slice(0, 4).join(':');
};

export const operatorActor = (login: string): Actor => ({ actor: login, actor_kind: 'operator' });

/**
 * Opens a session in this transaction.
 * @param confirmed the OIDC provider asked for the credentials just now
 * @returns its secret, for the cookie
 */
export const openSession = async (
  tx: Queryable,
  login: string,
  by: 'password' | 'link' | 'oidc',
  address: string,
  confirmed = false,
): Promise<string> => {
  const session = createSecret();
  await deleteExpired(tx);
  await insertSession(tx, hashSecret(session), login, confirmed);
  await updateOperator(tx, login, { last_sign_in_at: new Date() });
  const details = { by, address, ...(confirmed && { confirmed }) };
  await recordAudit(tx, [
    { ...operatorActor(login), action: 'session.sign_in', subject: `operator:${login}`, details },
  ]);
  return session;
};

/**
 * Writes a refused sign-in. An unknown login is not written: it may be a password in the wrong field.
 * @param login of an operator that exists; null: of none
 */
export const recordRefusal = (
  sql: Queryable,
  login: string | null,
  why: string,
  address: string,
): Promise<void> =>
  recordAudit(sql, [
    {
      actor: login ?? 'unknown',
      actor_kind: 'operator',
      action: 'session.refuse',
      subject: `operator:${login ?? 'unknown'}`,
      reason: why,
      details: { address },
    },
  ]);

/** Counts an attempt before it is verified, so that parallel guesses count too. @returns seconds to wait; 0: none */
export const countAttempt = async (sql: Queryable, keys: readonly string[]): Promise<number> => {
  const counts = await countAttempts(sql, keys, WINDOW_MS);
  const over = counts.filter(({ attempts }) => attempts > ATTEMPTS_MAX);
  return Math.max(0, ...over.map(({ wait_s }) => Math.max(1, wait_s)));
};

/** Signs in by password. */
export const signInByPassword = async (
  sql: Database,
  typed: { login: string; password: string },
  address: string,
): Promise<SignInResult> => {
  const login = typed.login.trim().toLowerCase().slice(0, 100);
  const keys = [`address:${networkOf(address)}`, `login:${login.toWellFormed().replaceAll('\u0000', '')}`];
  const waitSeconds = await countAttempt(sql, keys);
  if (waitSeconds > 0) return { kind: 'too_many', waitSeconds };
  const operator = /^[\x21-\x7e]+$/.test(login) ? await findOperator(sql, login) : undefined;
  const matches = await verifyPassword(typed.password, operator?.password_hash ?? null);
  if (operator === undefined || !matches || operator.status !== 'active') {
    const why = operator?.status === 'disabled' && matches ? 'the operator is disabled' : 'wrong password';
    await recordRefusal(
      sql,
      operator?.login ?? null,
      operator === undefined ? 'unknown login' : why,
      address,
    );
    return { kind: 'refused' };
  }
  const session = await sql.begin(async (tx) => {
    await forgetAttempts(tx, keys);
    return openSession(tx, operator.login, 'password', address);
  });
  return { kind: 'signed_in', session: session as string, login: operator.login };
};

/** How the operator of this session can confirm the sign-in. */
export const readProof = (sql: Queryable, session: string): Promise<Proof | undefined> =>
  findProof(sql, hashSecret(session));

export type Confirmation =
  | { kind: 'confirmed' }
  | { kind: 'refused' }
  | { kind: 'too_many'; waitSeconds: number };

/**
 * Has the operator of a session prove again who it is: by the password, or by a fresh sign-in at the OIDC provider, which
 * counts once. Wrong passwords count with those of the sign-in.
 */
export const confirmOperator = async (
  sql: Database,
  { session, login, password }: { session: string; login: string; password: string },
  address: string,
): Promise<Confirmation> => {
  const operator = await findOperator(sql, login);
  if (operator?.password_hash == null)
    return { kind: (await takeConfirmation(sql, hashSecret(session))) ? 'confirmed' : 'refused' };
  const keys = [`address:${networkOf(address)}`, `login:${login}`];
  const waitSeconds = await countAttempt(sql, keys);
  if (waitSeconds > 0) return { kind: 'too_many', waitSeconds };
  if (!(await verifyPassword(password, operator.password_hash))) {
    await recordRefusal(sql, login, 'wrong password for a reveal', address);
    return { kind: 'refused' };
  }
  await forgetAttempts(sql, keys);
  return { kind: 'confirmed' };
};

/** @returns undefined if the link was used, has expired or never existed */
export const readLink = (sql: Database, secret: string): Promise<Link | undefined> =>
  findLink(sql, hashSecret(secret));

/**
 * Uses a link up and signs in.
 * @param password to set; null for a link that sets none
 * @returns undefined if the link is no longer valid
 * @throws CatalogueError that says what is wrong with the password; the link stays valid
 */
export const signInByLink = async (
  sql: Database,
  secret: string,
  password: string | null,
  address: string,
): Promise<{ session: string; login: string } | undefined> => {
  const link = await readLink(sql, secret);
  if (link === undefined || link.sets_password !== (password !== null)) return undefined;
  if (password !== null) await requireGoodPassword(password, [link.login, link.name]);
  const password_hash = password === null ? null : await hashPassword(password);
  return sql.begin(async (tx) => {
    const taken = await takeLink(tx, hashSecret(secret));
    if (taken === undefined) return undefined;
    const { login } = taken;
    if (password_hash !== null) {
      await updateOperator(tx, login, { password_hash });
      // Sessions of the former password end.
      await deleteSessionsOf(tx, login);
      await forgetAttempts(tx, [`login:${login}`]);
    }
    const session = await openSession(tx, login, 'link', address);
    if (password_hash !== null) {
      await recordAudit(tx, [
        { ...operatorActor(login), action: 'operator.password', subject: `operator:${login}` },
      ]);
    }
    return { session, login };
  }) as Promise<{ session: string; login: string } | undefined>;
};

/** Who has this session? @param touch false: this request does not keep the session open */
export const readSession = (
  sql: Queryable,
  session: string | undefined,
  touch: boolean,
): Promise<SignedIn | undefined> =>
  session === undefined || session.length > 100
    ? Promise.resolve(undefined)
    : findSession(sql, hashSecret(session), touch);

/** Ends a session. */
export const signOut = (sql: Database, session: string): Promise<void> =>
  sql.begin(async (tx) => {
    const login = await deleteSession(tx, hashSecret(session));
    if (login === undefined) return;
    await recordAudit(tx, [
      { ...operatorActor(login), action: 'session.sign_out', subject: `operator:${login}` },
    ]);
  }) as Promise<void>;
