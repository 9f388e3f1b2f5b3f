/** What an administrator does to operators. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { insertOperator, lockOperator, type OperatorRow, updateOperator } from '#db/queries/operators.ts';
import { deleteLinksOf, deleteSessionsOf } from '#db/queries/sign-in.ts';
import { displayName } from '#src/contract/application-settings.ts';
import { login, roles } from '#src/contract/operators.ts';
import { CatalogueError, NotFoundError, UsageError } from '#src/errors.ts';
import { createLink } from '#src/identity/links.ts';
import { type Context, defineOperation } from '#src/operations/operation.ts';

export const operatorSubject = (operator: { login: string }): string => `operator:${operator.login}`;

const oneOperator = z.object({ login });

const requireOperator = async (tx: Queryable, name: string): Promise<OperatorRow> => {
  const operator = await lockOperator(tx, name);
  if (operator !== undefined) return operator;
  throw new NotFoundError('operator', name);
};

/** Ends every session and link. @returns how many sessions ended */
const signOut = async (tx: Queryable, name: string): Promise<number> => {
  const sessions = await deleteSessionsOf(tx, name);
  await deleteLinksOf(tx, name);
  return sessions;
};

export const addOperator = defineOperation({
  name: 'operator.add',
  title: 'Add an operator who signs in by password',
  right: 'manage_operators',
  /** `name`: what pages show; absent: the login. */
  input: oneOperator.extend({ name: displayName.optional(), roles }),
  subject: operatorSubject,
  run: async (tx, { login, name = login, roles }) => {
    if (!(await insertOperator(tx, { login, name, roles })))
      throw new UsageError(
        `There is already an operator ${login}: change it with operator roles, or choose another login.`,
      );
    /** `secret` of a one-time link, with which the operator sets a password. */
    return { login, name, roles, secret: await createLink(tx, login, true) };
  },
  log: ({ name, roles }) => ({ details: { name, roles } }),
});

export const linkOperator = defineOperation({
  name: 'operator.link',
  title: 'Make a one-time sign-in link; older ones end',
  right: 'manage_operators',
  /** `sets_password` false: opening the link signs in. */
  input: oneOperator.extend({ sets_password: z.boolean().default(true) }),
  subject: operatorSubject,
  run: async (tx, { login, sets_password }) => {
    const operator = await requireOperator(tx, login);
    if (operator.status === 'disabled') throw new UsageError(`${login} is disabled: it cannot sign in.`);
    if (operator.oidc_subject !== null)
      throw new UsageError(`${login} signs in at the OIDC provider: it needs no link.`);
    return { login, secret: await createLink(tx, login, sets_password) };
  },
});

/** They count at the operator's next request. */
export const setRoles = defineOperation({
  name: 'operator.roles',
  title: 'Set the roles of an operator',
  right: 'manage_operators',
  input: oneOperator.extend({ roles }),
  subject: operatorSubject,
  run: async (tx, { login, roles }) => {
    const before = await requireOperator(tx, login);
    if (before.oidc_subject !== null)
      throw new UsageError(`The roles of ${login} come from the OIDC provider, at each sign-in.`);
    await updateOperator(tx, login, { roles });
    return { login, roles, before: before.roles };
  },
  log: ({ before: from, roles: to }) => ({ details: { from, to } }),
  after: async ({ login, roles }) => ({ login, roles }),
});

type Switched = { login: string; status: OperatorRow['status']; sessions: number; isChanged: boolean };

const switchTo =
  (status: OperatorRow['status']) =>
  async (tx: Queryable, { login }: { login: string }, { caller: { actor } }: Context): Promise<Switched> => {
    if (status === 'disabled' && actor.actor_kind === 'operator' && actor.actor === login)
      throw new CatalogueError('You cannot disable yourself: ask another administrator.');
    const before = await requireOperator(tx, login);
    await updateOperator(tx, login, { status });
    return { login, status, sessions: await signOut(tx, login), isChanged: before.status !== status };
  };

const switched = {
  right: 'manage_operators',
  input: oneOperator,
  subject: operatorSubject,
  log: ({ isChanged, sessions }: Switched) => (isChanged ? { details: { sessions } } : []),
} as const;

export const disableOperator = defineOperation({
  name: 'operator.disable',
  title: 'End every session of an operator and refuse new ones',
  run: switchTo('disabled'),
  ...switched,
});

export const enableOperator = defineOperation({
  name: 'operator.enable',
  title: 'Let an operator sign in again',
  run: switchTo('active'),
  ...switched,
});

export const signOutOperator = defineOperation({
  name: 'operator.sign_out',
  title: 'End every session of an operator',
  right: 'manage_operators',
  input: oneOperator,
  subject: operatorSubject,
  run: async (tx, { login }) => {
    await requireOperator(tx, login);
    return { login, sessions: await signOut(tx, login) };
  },
  log: ({ sessions }) => ({ details: { sessions } }),
});
