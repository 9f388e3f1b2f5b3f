/** API tokens: create, revoke. */

import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import { type Queryable, readTime } from '#db/client.ts';
import { lockOperatorState } from '#db/queries/operators.ts';
import { insertToken, revokeToken } from '#db/queries/tokens.ts';
import { applicationId, displayName, duration } from '#src/contract/application-settings.ts';
import { time } from '#src/contract/documents.ts';
import { login, roles } from '#src/contract/operators.ts';
import type { Role } from '#src/contract/roles.ts';
import { NotFoundError, StateError, UsageError } from '#src/errors.ts';
import { createApiToken } from '#src/identity/secrets.ts';
import { DAY_MS, MINUTE_MS } from '#src/lib/duration.ts';
import { defineOperation, ForbiddenError } from '#src/operations/operation.ts';
import { hashApiToken } from '#src/rules/api-token.ts';

/** Default lifetimes. A token that acts as an operator ends sooner than one that only reads. */
const TOKEN_DAYS = { application: 365, operator: 90 };

const tokenSubject = ({ token_id }: { token_id: string }): string => `token:${token_id}`;

/** Returns the roles of an operator's token: the given ones, or else all that the operator has now. @throws UsageError */
const chooseRoles = async (tx: Queryable, name: string, given: Role[] | undefined): Promise<Role[]> => {
  const operator = await lockOperatorState(tx, name);
  if (operator === undefined) throw new NotFoundError('operator', name);
  if (operator.status === 'disabled') throw new StateError(`${name} is disabled: it cannot have a token.`);
  const lacking = given?.filter((role) => !operator.roles.includes(role)) ?? [];
  if (lacking.length > 0) throw new UsageError(`${name} does not have the role ${lacking.join(', ')}.`);
  return given ?? operator.roles;
};

export const createToken = defineOperation({
  name: 'token.create',
  title: 'Create an API token',
  answer: z.object({
    token_id: z.guid(),
    token: z.string().describe('Shown only now.'),
    application_id: z.string().nullable(),
    name: z.string(),
    expires_at: time,
  }),
  right: ({ login }) => (login === undefined ? 'manage_applications' : 'manage_operators'),
  input: z
    .object({
      application_id: applicationId
        .optional()
        .describe('The token reads the games of this application, as its server does.'),
      login: login
        .optional()
        .describe('The token acts as this operator. The command line alone makes such tokens.'),
      roles: roles
        .optional()
        .describe("Of an operator's token: at most these roles. By default all that the operator has now."),
      name: displayName.optional().describe('Its purpose. By default its application or its operator.'),
      expires: duration(MINUTE_MS, 3_650 * DAY_MS)
        .optional()
        .describe("Its lifetime. By default 365d, of an operator's token 90d."),
    })
    .refine(
      ({ application_id, login }) => (application_id === undefined) !== (login === undefined),
      'Give the owner of the token: an application or an operator',
    )
    .refine(({ login, roles }) => roles === undefined || login !== undefined, {
      path: ['roles'],
      message: 'are of an operator, not of an application',
    }),
  subject: ({ application_id, login }) =>
    login === undefined ? `application:${application_id}` : `operator:${login}`,
  run: async (tx, { application_id = null, login = null, roles: given, name, expires }, { caller }) => {
    // By another front, an operator could make a token in another's name, or one that outlives its own.
    if (login !== null && caller.actor.actor_kind !== 'command_line')
      throw new ForbiddenError("An operator's token is made on the command line alone.");
    const roles = login === null ? null : await chooseRoles(tx, login, given);
    const lifetimeMs = expires ?? TOKEN_DAYS[login === null ? 'application' : 'operator'] * DAY_MS;
    const token = createApiToken();
    const expires_at = new Date((await readTime(tx)).getTime() + lifetimeMs);
    const owner = { application_id, login, roles };
    const row = {
      token_id: randomUUIDv7(),
      ...owner,
      name: name ?? application_id ?? login ?? '',
      expires_at,
    };
    if (!(await insertToken(tx, { ...row, token_hash: hashApiToken(token) })))
      throw new NotFoundError('application', application_id ?? '');
    /** The token is shown only now. */
    return { ...row, token };
  },
  log: ({ token_id, token: _token, ...details }) => ({ subject: tokenSubject({ token_id }), details }),
});

/** `isNew`: the token was not revoked before. */
type Revoked = { token_id: string; state: 'revoked'; isNew: boolean };

const revocation = {
  input: z.object({ token_id: z.guid().toLowerCase() }),
  subject: tokenSubject,
  log: ({ isNew }: Revoked) => (isNew ? {} : []),
} as const;

const revoked = z.object({ token_id: z.guid(), state: z.literal('revoked') });

const revoke = async (tx: Queryable, token_id: string, login?: string): Promise<Revoked> => {
  const isNew = await revokeToken(tx, token_id, login);
  if (isNew === undefined) throw new NotFoundError('token', token_id);
  return { token_id, state: 'revoked', isNew };
};

export const revokeApiToken = defineOperation({
  name: 'token.revoke',
  title: 'Revoke an API token',
  answer: revoked,
  right: 'manage_applications',
  ...revocation,
  run: (tx, { token_id }) => revoke(tx, token_id),
});

export const revokeOwnToken = defineOperation({
  name: 'token.revoke_own',
  title: 'Revoke a token that acts as oneself',
  answer: revoked,
  right: 'own',
  knownBy: 'operator',
  ...revocation,
  run: (tx, { token_id }, { caller }) => revoke(tx, token_id, caller.actor.actor),
});
