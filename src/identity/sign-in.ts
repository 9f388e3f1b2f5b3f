/** Sessions of operators: sign-in by password or one-time link, and sign-out. Sign-in by OIDC is in oidc.ts. */
import { setTimeout } from 'node:timers/promises';
import { normalizeIP } from '@fastify/rate-limit';
import { type Database, type Queryable, readTime } from '#db/client.ts';
import { type Actor, operatorActor, recordAudit } from '#db/queries/audit.ts';
import { findOperator, lockOperator, updateOperator } from '#db/queries/operators.ts';
import {
  countAttempts,
  deleteSession,
  deleteSessionsOf,
  findLink,
  findSession,
  forgetAttempts,
  insertSession,
  type Link,
  type SignedIn,
  takeAttempt,
  takeLink,
} from '#db/queries/sign-in.ts';
import type { AuditAction } from '#src/contract/audit.ts';
import type { Role, Site } from '#src/contract/roles.ts';
import { CatalogueError } from '#src/errors.ts';
import { hashPassword, requireGoodPassword, verifyPassword } from '#src/identity/password.ts';
import { recordRefusedSignIn } from '#src/identity/refusals.ts';
import { browserProof, createSecret, hashSecret, isSameText } from '#src/identity/secrets.ts';

/** Attempts of one known browser, and confirmations of one operator, within the window. */
export const ATTEMPTS_MAX = 10;
/** Sign-ins of unknown browsers at one address. */
export const ADDRESS_DELAYS = { free: 10, firstS: 30, maxS: 900 } as const;
/** Sign-ins of one login by unknown browsers at any address. Short, because strangers cause them. */
const LOGIN_DELAYS = { free: 100, firstS: 1, maxS: 60 } as const;
export const WINDOW_MS = 15 * 60_000;

export type SignInRefusal = { kind: 'refused' } | { kind: 'too_many'; waitSeconds: number };
/** `session` is the secret of the new session, and `browser` what makes the browser known, each for its cookie. */
export type SignInResult =
  | { kind: 'signed_in'; session: string; login: string; browser: string }
  | SignInRefusal;

/** Where somebody signs in, the address of the browser, and what makes it known to an operator (`browserProof`). */
export type Visit = { site: Site; address: string; browser?: string | undefined };

const addressKey = (address: string): string => `address:${normalizeIP(address)}`;
const loginKey = (login: string): string => `login:${login}`;
const browserKey = (login: string): string => `browser:${login}`;
export const confirmKey = (login: string): string => `confirm:${login}`;

/** Writes what happened to an operator at a sign-in. */
export const recordOperator = (
  tx: Queryable,
  actor: Actor,
  action: AuditAction,
  login: string,
  details: Record<string, unknown> = {},
): Promise<void> => recordAudit(tx, [{ ...actor, action, subject: `operator:${login}`, details }]);

/**
 * Opens a session in this transaction.
 * @param signIn.confirmed whether the OIDC provider has just checked the credentials
 * @returns the secret of the session, for the cookie
 */
export const openSession = async (
  tx: Queryable,
  signIn: Visit & { login: string; by: 'password' | 'link' | 'oidc'; confirmed?: boolean },
): Promise<string> => {
  const { login, by, site, address, confirmed = false } = signIn;
  const session = createSecret();
  await insertSession(tx, hashSecret(session), { login, site, confirmed });
  await updateOperator(tx, login, { last_sign_in_at: await readTime(tx) });
  const details = { by, site, address, ...(confirmed && { confirmed }) };
  await recordOperator(tx, operatorActor(login), 'session.sign_in', login, details);
  return session;
};

/**
 * Counts an attempt before it is verified, so that parallel guesses count too.
 * @param max attempts within the window
 * @returns seconds to wait; 0 if the attempt is allowed
 */
export const countAttempt = async (
  sql: Queryable,
  keys: readonly string[],
  max = ATTEMPTS_MAX,
): Promise<number> => {
  const counts = await countAttempts(sql, keys, WINDOW_MS);
  const exceeded = counts.filter(({ attempts }) => attempts > max);
  return Math.max(0, ...exceeded.map(({ wait_s }) => Math.max(1, wait_s)));
};

/** Too many sign-ins: the person waits. */
export class TooManySignInsError extends CatalogueError {
  override readonly name = 'TooManySignInsError';
  readonly waitSeconds: number;

  constructor(waitSeconds: number) {
    super('Too many sign-ins: retry later.');
    this.waitSeconds = waitSeconds;
  }
}

/** Sign-ins of one login that succeed within the window. Each is a session, and an entry of the audit log. */
const SIGN_INS_MAX = 100;

/** Counts a sign-in that is to succeed. @returns seconds to wait; 0 if it is allowed */
export const countSignIn = (sql: Queryable, login: string): Promise<number> =>
  countAttempt(sql, [`sign-ins:${login}`], SIGN_INS_MAX);

/**
 * A refusal is answered this long after the password was verified. Its entry is written meanwhile, or none is
 * (`refusals.ts`), so the time does not tell whether an operator exists.
 */
const REFUSAL_MS = 100;

/** A login that may exist: visible ASCII. Other texts are neither looked up nor counted. */
const POSSIBLE_LOGIN = /^[\x21-\x7e]{1,100}$/;

/**
 * Counts a sign-in of an unknown browser. A refused address does not count for the login, or it alone could lock the
 * operator out.
 */
const countUnknown = async (sql: Queryable, address: string, login: string | undefined): Promise<number> => {
  const waitSeconds = await takeAttempt(sql, addressKey(address), ADDRESS_DELAYS);
  if (waitSeconds > 0 || login === undefined) return waitSeconds;
  return takeAttempt(sql, loginKey(login), LOGIN_DELAYS);
};

/**
 * Signs in by password. After 10 attempts at an address (IPv6: /64), and after 100 of a login, the next ones have growing
 * delays. A browser in which the operator has signed in before does not share them, because it has 10 attempts in 15
 * minutes.
 */
export const signInByPassword = async (
  sql: Database,
  typed: { login: string; password: string },
  { site, address, browser }: Visit,
): Promise<SignInResult> => {
  const login = typed.login.trim().toLowerCase();
  const isPossible = POSSIBLE_LOGIN.test(login);
  const operator = isPossible ? await findOperator(sql, login) : undefined;
  const password_hash = operator?.password_hash ?? null;
  const isKnown =
    browser !== undefined &&
    password_hash !== null &&
    isSameText(browser, browserProof(login, password_hash));
  const waitSeconds = isKnown
    ? await countAttempt(sql, [browserKey(login)])
    : await countUnknown(sql, address, isPossible ? login : undefined);
  if (waitSeconds > 0) return { kind: 'too_many', waitSeconds };
  const refuse = async (known: string | null, reason: string): Promise<SignInRefusal> => {
    await Promise.all([recordRefusedSignIn(sql, known, reason, address), setTimeout(REFUSAL_MS)]);
    return { kind: 'refused' };
  };
  const matches = await verifyPassword(typed.password, password_hash, isKnown ? 'known' : 'unknown');
  if (operator === undefined) return refuse(null, 'unknown login');
  if (!matches) return refuse(operator.login, 'wrong password');
  if (operator.status !== 'active') return refuse(operator.login, 'the operator is disabled');
  const signInWaitS = await countSignIn(sql, login);
  if (signInWaitS > 0) return { kind: 'too_many', waitSeconds: signInWaitS };
  const session = await sql.begin(async (tx) => {
    const locked = await lockOperator(tx, operator.login);
    if (locked?.password_hash !== operator.password_hash || locked.status !== 'active') {
      await recordRefusedSignIn(
        tx,
        operator.login,
        'the password or the operator was changed meanwhile',
        address,
      );
      return undefined;
    }
    await forgetAttempts(tx, isKnown ? [browserKey(login)] : [addressKey(address), loginKey(login)]);
    return openSession(tx, { login: operator.login, by: 'password', site, address });
  });
  if (session === undefined) return { kind: 'refused' };
  return { kind: 'signed_in', session, login, browser: browserProof(login, password_hash ?? '') };
};

/**
 * The KYC desk keeps the passwords of KYC officers, and the console all others: neither process sets those of the other
 * (`operators_of_sites`).
 * @throws CatalogueError that says where to do it
 */
export const refuseOtherSite = (site: Site, roles: readonly Role[], act: string): void => {
  const keeper = roles.includes('kyc_officer') ? 'kyc_desk' : 'console';
  if (site === keeper) return;
  const at = keeper === 'console' ? 'the console' : 'the KYC desk';
  throw new CatalogueError(`${act} at ${at}: the KYC desk keeps the passwords of KYC officers.`);
};

/** Finds a one-time link. @returns undefined if it was used, has expired or never existed, or its operator is disabled */
export const readLink = (sql: Database, secret: string): Promise<Link | undefined> =>
  findLink(sql, hashSecret(secret));

/**
 * Signs in by a one-time link, which ends the link.
 * @param password required by a link that sets one; null for any other link
 * @returns undefined if the link has ended, or is of the other kind
 * @throws CatalogueError that says what is wrong with the password or the site; the link stays valid
 */
export const signInByLink = async (
  sql: Database,
  secret: string,
  password: string | null,
  { site, address }: Visit,
): Promise<{ session: string; login: string } | undefined> => {
  const setsPassword = password !== null;
  const link = await readLink(sql, secret);
  if (link === undefined || link.sets_password !== setsPassword) return undefined;
  const { login } = link;
  if (setsPassword) {
    refuseOtherSite(site, link.roles, 'Open this link');
    // Judging a password blocks the process.
    const waitSeconds = await countAttempt(sql, [`link:${login}`]);
    if (waitSeconds > 0) throw new TooManySignInsError(waitSeconds);
    await requireGoodPassword(password, [login, link.name]);
  }
  const password_hash = setsPassword ? await hashPassword(password) : null;
  return sql.begin(async (tx) => {
    // All that ends sessions and links locks their operator first, because another order could deadlock.
    await lockOperator(tx, login);
    if ((await takeLink(tx, hashSecret(secret))) === undefined) return undefined;
    if (password_hash !== null) {
      await updateOperator(tx, login, { password_hash });
      // Sessions of the former password end.
      await deleteSessionsOf(tx, login);
      await forgetAttempts(tx, [loginKey(login), confirmKey(login)]);
    }
    const session = await openSession(tx, { login, by: 'link', site, address });
    // Entries of the audit log come last, because they lock it until the commit.
    if (setsPassword) await recordOperator(tx, operatorActor(login), 'operator.password', login);
    return { session, login };
  }) as Promise<{ session: string; login: string } | undefined>;
};

/** Finds the operator of a session of this site. @param touch false: this request does not keep the session open */
export const readSession = async (
  sql: Queryable,
  session: string | undefined,
  site: Site,
  touch: boolean,
): Promise<SignedIn | undefined> =>
  session === undefined ? undefined : findSession(sql, hashSecret(session), site, touch);

/** Ends a session. */
export const signOut = (sql: Database, session: string): Promise<void> =>
  sql.begin(async (tx) => {
    const login = await deleteSession(tx, hashSecret(session));
    if (login === undefined) return;
    await recordOperator(tx, operatorActor(login), 'session.sign_out', login);
  });
