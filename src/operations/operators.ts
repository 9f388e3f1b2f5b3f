/** What an administrator does to operators. */

import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { type ApprovalRow, findVersion } from '#db/queries/approvals.ts';
import {
  findLookalike,
  insertOperator,
  lockOperatorState,
  type OperatorRow,
  type OperatorState,
  rolesGained,
  SECOND_PERSONS,
  startCounting,
  updateOperator,
} from '#db/queries/operators.ts';
import { deleteLinksOf, deleteSessionsOf } from '#db/queries/sign-in.ts';
import { revokeTokensOf } from '#db/queries/tokens.ts';
import { displayName } from '#src/contract/application-settings.ts';
import type { OPERATOR_KINDS } from '#src/contract/approvals.ts';
import { count } from '#src/contract/documents.ts';
import { login, roles } from '#src/contract/operators.ts';
import { OPERATOR_STATUSES, type Role } from '#src/contract/roles.ts';
import { CatalogueError, NotFoundError, StateError } from '#src/errors.ts';
import { createLink } from '#src/identity/links.ts';
import { type Caller, type Context, defineOperation } from '#src/operations/operation.ts';
import { ApprovalError } from '#src/operations/second-person.ts';

export const operatorSubject = (operator: { login: string }): string => `operator:${operator.login}`;

const oneOperator = z.object({ login });

const requireOperator = async (tx: Queryable, name: string): Promise<OperatorState> => {
  const operator = await lockOperatorState(tx, name);
  if (operator !== undefined) return operator;
  throw new NotFoundError('operator', name);
};

/** Ends every session and link. @returns how many sessions ended */
const signOut = async (tx: Queryable, name: string): Promise<number> => {
  const sessions = await deleteSessionsOf(tx, name);
  await deleteLinksOf(tx, name);
  return sessions;
};

/** The command line and the platform itself make the first two officers, who count at once. */
const isOwner = ({ actor }: Pick<Caller, 'actor'>): boolean => actor.actor_kind !== 'operator';

/** Those of the roles that are new and can be a second person. */
const newSecondPerson = (roles: readonly Role[], before: readonly Role[] = []): Role[] =>
  SECOND_PERSONS.filter((role) => roles.includes(role) && !before.includes(role));

type Act = 'add' | 'roles' | 'link' | 'enable';

/**
 * Returns the kind of approval that an act on an operator requires. A person who is made an officer or a reviewer, or whose
 * sign-in is opened, could be the second person of the administrator.
 */
export const kindOfChange = (
  act: Act,
  roles: readonly Role[],
  before: OperatorState | undefined,
): (typeof OPERATOR_KINDS)[number] | null => {
  if (act === 'add' && before !== undefined) return null;
  if (act === 'enable' && before?.status !== 'disabled') return null;
  const opens = act === 'link' || act === 'enable';
  const added = opens ? newSecondPerson(before?.roles ?? []) : newSecondPerson(roles, before?.roles);
  if (added.length === 0) return null;
  return added.includes('kyc_officer') ? 'officer' : 'reviewer';
};

/** An administrator requests such an act at the console; an officer approves it at the desk, or a reviewer at the console. */
const bySecondPerson = <Input extends { login: string; roles?: Role[] }>(act: Act) => {
  const kindOf = async (tx: Queryable, { login, roles = [] }: Input) =>
    kindOfChange(act, roles, await lockOperatorState(tx, login));
  return {
    kind: 'officer' as const,
    kindOf,
    lockVersion: async (tx: Queryable, input: Input, caller: Caller): Promise<string | null> => {
      const kind = isOwner(caller) ? null : await kindOf(tx, input);
      return kind && findVersion(tx, kind, operatorSubject(input));
    },
  };
};

/** @throws ApprovalError if something else was approved */
const requireApproved = (approval: ApprovalRow | undefined, act: Act, roles: readonly Role[] = []): void => {
  if (approval === undefined) return;
  const { requested } = approval;
  if (requested.act !== act || (requested.roles ?? []).toSorted().join() !== [...roles].toSorted().join())
    throw new ApprovalError('Something else was approved for this operator: request this too.');
};

export const addOperator = defineOperation({
  name: 'operator.add',
  title: 'Add an operator who signs in by password',
  notByToken: 'at the console, with the password',
  right: 'manage_operators',
  /** `name`: what pages show; absent: the login. */
  input: oneOperator.extend({ name: displayName.optional(), roles }),
  subject: operatorSubject,
  secondPerson: bySecondPerson('add'),
  run: async (tx, { login, name = login, roles }, { caller, approval }) => {
    requireApproved(approval, 'add', roles);
    const lookalike = await findLookalike(tx, login);
    if (lookalike !== undefined)
      throw new StateError(
        `The login ${login} looks like ${lookalike}: choose another, or people take one for the other.`,
      );
    if (!(await insertOperator(tx, { login, name, roles, atOnce: isOwner(caller) })))
      throw new StateError(
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
  notByToken: 'at the console, with the password',
  right: 'manage_operators',
  /** `sets_password` false: the link alone signs in. */
  input: oneOperator.extend({ sets_password: z.boolean().default(true) }),
  subject: operatorSubject,
  secondPerson: bySecondPerson('link'),
  run: async (tx, { login, sets_password }, { caller, approval }) => {
    requireApproved(approval, 'link');
    const operator = await requireOperator(tx, login);
    if (operator.status === 'disabled')
      throw new StateError(
        `${login} is disabled: let it sign in again first (operator disable ${login} --undo).`,
      );
    if (operator.oidc_subject !== null)
      throw new StateError(`${login} signs in at the OIDC provider: it needs no link.`);
    // The person who opens the link is new to the others.
    await startCounting(tx, login, operator.roles, isOwner(caller));
    return { login, roles: operator.roles, secret: await createLink(tx, login, sets_password) };
  },
});

/** The new roles apply from the operator's next request on. */
export const setRoles = defineOperation({
  name: 'operator.roles',
  title: 'Set the roles of an operator',
  notByToken: 'at the console, with the password',
  right: 'manage_operators',
  input: oneOperator.extend({ roles }),
  subject: operatorSubject,
  secondPerson: bySecondPerson('roles'),
  run: async (tx, { login, roles }, { caller, approval }) => {
    requireApproved(approval, 'roles', roles);
    const before = await requireOperator(tx, login);
    if (before.oidc_subject !== null)
      throw new StateError(`The roles of ${login} come from the OIDC provider, at each sign-in.`);
    await updateOperator(tx, login, { roles });
    const added = rolesGained(roles, before.roles);
    if (added.length > 0) await startCounting(tx, login, added, isOwner(caller));
    return { login, roles, before: before.roles };
  },
  log: ({ before: from, roles: to }) => ({ details: { from, to } }),
  after: async ({ login, roles }) => ({ login, roles }),
});

type Switched = {
  login: string;
  status: OperatorRow['status'];
  sessions: number;
  tokens: number;
  isChanged: boolean;
};

const switchTo =
  (status: OperatorRow['status']) =>
  async (tx: Queryable, { login }: { login: string }, { caller }: Context): Promise<Switched> => {
    const { actor } = caller;
    if (status === 'disabled' && actor.actor_kind === 'operator' && actor.actor === login)
      throw new CatalogueError('You cannot disable yourself: ask another administrator.');
    const before = await requireOperator(tx, login);
    if (before.status === status) return { login, status, sessions: 0, tokens: 0, isChanged: false };
    await updateOperator(tx, login, { status });
    if (status === 'active') await startCounting(tx, login, before.roles, isOwner(caller));
    const tokens = status === 'disabled' ? await revokeTokensOf(tx, { login }) : 0;
    return { login, status, sessions: await signOut(tx, login), tokens, isChanged: true };
  };

const switched = {
  right: 'manage_operators',
  input: oneOperator,
  subject: operatorSubject,
  log: ({ isChanged, sessions, tokens }: Switched) => (isChanged ? { details: { sessions, tokens } } : []),
} as const;

export const disableOperator = defineOperation({
  name: 'operator.disable',
  title: 'End every session and API token of an operator and refuse new sessions',
  answer: z.object({ login: z.string(), status: z.enum(OPERATOR_STATUSES), sessions: count, tokens: count }),
  run: switchTo('disabled'),
  ...switched,
});

export const enableOperator = defineOperation({
  name: 'operator.enable',
  title: 'Let an operator sign in again',
  notByToken: 'at the console, with the password',
  ...switched,
  secondPerson: bySecondPerson('enable'),
  run: (tx, input: { login: string }, context) => {
    requireApproved(context.approval, 'enable');
    return switchTo('active')(tx, input, context);
  },
});

export const signOutOperator = defineOperation({
  name: 'operator.sign_out',
  title: 'End every session of an operator',
  answer: z.object({ login: z.string(), sessions: count }),
  right: 'manage_operators',
  input: oneOperator,
  subject: operatorSubject,
  run: async (tx, { login }) => {
    await requireOperator(tx, login);
    return { login, sessions: await signOut(tx, login) };
  },
  log: ({ sessions }) => ({ details: { sessions } }),
});
