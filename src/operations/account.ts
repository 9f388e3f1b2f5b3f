/** What operators do about their own sign-in and pages: the password, their sessions, single keys. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { lockOperator, type OperatorRow, updateOperator } from '#db/queries/operators.ts';
import {
  deleteLinksOf,
  deleteOtherSessions,
  deleteSessionById,
  findSession,
  lockSession,
  replaceSessionHash,
} from '#db/queries/sign-in.ts';
import { CatalogueError } from '#src/errors.ts';
import { tryPassword } from '#src/identity/confirm.ts';
import { hashPassword, requireGoodPassword } from '#src/identity/password.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';
import { countAttempt, refuseOtherSite } from '#src/identity/sign-in.ts';
import { type AuditNote, type Context, defineOperation } from '#src/operations/operation.ts';
import { operatorSubject } from '#src/operations/operators.ts';

type Own = { operator: OperatorRow; session: NonNullable<Context['caller']['session']> };

/**
 * Locks the operator of a session, and the session, so that it ends before the act or after it.
 * @throws CatalogueError if the session has ended
 */
const lockOwn = async (tx: Queryable, { actor, session }: Context['caller']): Promise<Own> => {
  const operator = await lockOperator(tx, actor.actor);
  if (session !== undefined) await lockSession(tx, hashSecret(session.secret));
  const open = session && (await findSession(tx, hashSecret(session.secret), session.site, false));
  if (operator === undefined || session === undefined || open?.login !== operator.login)
    throw new CatalogueError('This session has ended: sign in again.');
  return { operator, session };
};

const own = {
  right: 'own',
  knownBy: 'session',
  subject: (_: unknown, { caller }: { caller: Context['caller'] }) =>
    operatorSubject({ login: caller.actor.actor }),
} as const;

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

const PASSWORD_MAX = 1_024;
const password = z.string().max(PASSWORD_MAX);

/**
 * Changes the password. The session gets a new secret; every other session and every sign-in link of the operator ends. The
 * lock on the operator lets one guess be verified at a time.
 */
export const changePassword = defineOperation({
  name: 'operator.password',
  title: 'Change the own password',
  ...own,
  input: z.object({ current: password, password }),
  run: async (tx, typed, { caller }): Promise<PasswordChange & { address: string }> => {
    const { operator, session } = await lockOwn(tx, caller);
    const { login, password_hash } = operator;
    const { address } = session;
    if (operator.oidc_subject !== null || password_hash === null)
      throw new CatalogueError('You have no password here.');
    refuseOtherSite(session.site, operator.roles, 'Change your password');
    const tried = await tryPassword(tx, { login, password_hash }, typed.current);
    if (tried.kind !== 'confirmed') return { ...tried, address };
    // Judging a password blocks the process, and each change is an entry of the audit log.
    const waitSeconds = await countAttempt(tx, [`password:${login}`]);
    if (waitSeconds > 0) return { kind: 'too_many', waitSeconds, address };
    const problem = await problemOf(operator, typed);
    if (problem !== undefined) return { kind: 'weak', problem, address };
    await updateOperator(tx, login, { password_hash: await hashPassword(typed.password) });
    const secret = createSecret();
    await replaceSessionHash(tx, hashSecret(session.secret), hashSecret(secret));
    const ended = await deleteOtherSessions(tx, login, hashSecret(secret));
    await deleteLinksOf(tx, login);
    return { kind: 'changed', session: secret, ended, address };
  },
  log: (change): AuditNote | AuditNote[] => {
    const { kind, address } = change;
    if (kind === 'changed') return { details: { sessions: change.ended, address } };
    if (kind !== 'refused') return [];
    return { action: 'session.refuse', reason: 'wrong current password for a new one', details: { address } };
  },
  after: async ({ address: _address, ...change }): Promise<PasswordChange> => change,
});

export const endOwnSessions = defineOperation({
  name: 'session.end',
  title: 'End own sessions',
  ...own,
  /** `others`: all but the one that acts. */
  input: z.object({
    session_id: z.union([z.literal('others'), z.string().regex(/^[0-9a-f]{64}$/, 'is no id of a session')]),
  }),
  run: async (tx, { session_id }, { caller }) => {
    const { operator, session } = await lockOwn(tx, caller);
    const ended =
      session_id === 'others'
        ? await deleteOtherSessions(tx, operator.login, hashSecret(session.secret))
        : Number(await deleteSessionById(tx, operator.login, session_id));
    return { ended };
  },
  log: ({ ended }) => (ended === 0 ? [] : { details: { sessions: ended } }),
});

export const setSingleKeys = defineOperation({
  name: 'operator.single_keys',
  title: 'Switch own single-key shortcuts',
  ...own,
  input: z.object({ single_keys: z.boolean() }),
  run: async (tx, { single_keys }, { caller }) => {
    const { operator } = await lockOwn(tx, caller);
    await updateOperator(tx, operator.login, { single_keys });
    return { single_keys };
  },
  /** No entry, because a viewer could switch it without end, and entries are never deleted. */
  log: () => [],
});
