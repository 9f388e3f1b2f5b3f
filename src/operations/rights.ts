import type { Queryable } from '#db/client.ts';
import { type OperatorState, readOperatorState } from '#db/queries/operators.ts';
import { hasPortalSessionEnded } from '#db/queries/portal-sessions.ts';
import { hasSessionEnded } from '#db/queries/sign-in.ts';
import { hasTokenEnded } from '#db/queries/tokens.ts';
import { hasRight, namesOfRoles, RIGHTS, type Right } from '#src/contract/roles.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { type AnyOperation, type Caller, ForbiddenError } from '#src/operations/operation.ts';

/** @param what is done, or shown @throws ForbiddenError */
export const requireRole = (what: string, right: Right, roles: Caller['roles']): void => {
  if (roles === 'all' || hasRight(roles, right)) return;
  throw new ForbiddenError(`${what}: this takes the role ${namesOfRoles(RIGHTS[right])}.`);
};

/** Requires the right of the caller to an operation. @throws ForbiddenError */
export const requireRight = (
  operation: AnyOperation,
  input: unknown,
  { actor, roles, session, token_id }: Caller,
): void => {
  const { right, byApplication, knownBy, notByToken, title } = operation;
  const refuse: (why: string) => never = (why) => {
    throw new ForbiddenError(`${title}: ${why}`);
  };
  if (actor.actor_kind === 'application') {
    // `requireOwn` checks that it is the caller's own application.
    if (!byApplication) refuse('applications may not do this.');
    return;
  }
  if (knownBy !== undefined && actor.actor_kind !== 'operator')
    refuse('only an operator who signs in may do this.');
  if (knownBy === 'session' && session === undefined)
    refuse('an operator does this at a page, signed in, and not by a token.');
  if (notByToken !== undefined && token_id !== undefined)
    refuse(`an operator does this ${notByToken}, and not by a token.`);
  if (right === 'system') {
    if (actor.actor_kind !== 'system') refuse('only the platform itself does this.');
    return;
  }
  if (right === 'application') refuse("an application's developer alone does this.");
  if (right === 'own') return;
  requireRole(title, typeof right === 'function' ? right(input) : right, roles);
};

/** What holds of a caller now: the operator, if it is one, and whether its token or session has ended. */
type CallerState = {
  operator: Pick<OperatorState, 'status' | 'roles'> | undefined;
  hasEnded: boolean;
};

/** Reads whether the caller may still act, in one round trip. */
export const readCallerState = async (
  tx: Queryable,
  { actor: { actor, actor_kind }, token_id, session, portal }: Caller,
  readOperator = readOperatorState,
): Promise<CallerState> => {
  const [operator, ...ended] = await Promise.all([
    actor_kind === 'operator' ? readOperator(tx, actor) : undefined,
    token_id !== undefined && hasTokenEnded(tx, token_id),
    session !== undefined && hasSessionEnded(tx, hashSecret(session.secret)),
    portal !== undefined && hasPortalSessionEnded(tx, portal),
  ]);
  return { operator, hasEnded: ended.includes(true) };
};

/**
 * Refuses an operator who was disabled, or lost the role, and a token or session that ended, since the request was let in.
 * It follows `recordAudit`, whose lock makes transactions of others wait, so the state holds at the commit.
 * @throws ForbiddenError
 */
export const requireRightStill = (
  operation: AnyOperation,
  input: unknown,
  caller: Caller,
  { operator: now, hasEnded }: CallerState,
): void => {
  if (hasEnded) throw new ForbiddenError(`${operation.title}: the token or the session has ended.`);
  if (now === undefined) return;
  if (now.status === 'disabled')
    throw new ForbiddenError(`${operation.title}: ${caller.actor.actor} is disabled.`);
  const roles =
    caller.roles === 'all' ? caller.roles : caller.roles.filter((role) => now.roles.includes(role));
  requireRight(operation, input, { ...caller, roles });
};

/** @throws ForbiddenError if the caller is another application than the subject */
export const requireOwn = ({ title }: AnyOperation, subject: string, { actor }: Caller): void => {
  if (actor.actor_kind === 'application' && subject !== `application:${actor.actor}`)
    throw new ForbiddenError(`${title}: an application may do this for itself only.`);
};
