import type { Database } from '#db/client.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';
import { type Caller, operate, type Platform } from '#src/operations/operation.ts';
import { removeApplication as removal } from '#src/operations/remove-application.ts';
import { testKeys } from '#test/support/factories.ts';

/** What the operations of a test use. Without `producer`, an operation that adds jobs fails. */
export const testPlatform = (sql: Database, given: Partial<Platform> = {}): Platform => ({
  sql,
  fourEyes: FOUR_EYES_BY_DEFAULT,
  producer: () => Promise.reject(new Error('this test gave no producer')),
  keys: async () => testKeys,
  ...given,
});

/** A signed-in operator. */
export const operatorCaller = (login: string, ...roles: Role[]): Caller => ({
  actor: { actor: login, actor_kind: 'operator' },
  roles,
});

/** Somebody at the command line. */
export const KIM: Caller = { actor: { actor: 'kim', actor_kind: 'command_line' }, roles: 'all' };

export const removeApplication = (sql: Database, application_id: string) =>
  operate(removal, { application_id }, KIM, testPlatform(sql));
