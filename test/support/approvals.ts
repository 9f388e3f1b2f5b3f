import type { Database } from '#db/client.ts';
import { listAudit } from '#db/queries/audit.ts';
import type { Role } from '#src/contract/roles.ts';
import { addOperator } from '#src/identity/operators.ts';
import { TESTS } from '#test/support/console.ts';

/** Adds operators who never sign in: `kim` with these roles, and so on. */
export const addOperators = async (sql: Database, people: Record<string, Role[]>): Promise<void> => {
  for (const [login, roles] of Object.entries(people))
    await addOperator(sql, TESTS, { login, name: login, roles });
};

/** Lets time pass for a request. */
export const passMinutes = async (sql: Database, approval_id: string, minutes: number): Promise<void> => {
  await sql`
    update approvals set asked_at = asked_at - ${minutes} * interval '1 minute',
      approved_at = approved_at - ${minutes} * interval '1 minute',
      expires_at = expires_at - ${minutes} * interval '1 minute' where approval_id = ${approval_id}`;
};

/** The actions on a subject, in order: `kim approval.ask`. */
export const actionsOn = async (sql: Database, subject: string): Promise<string[]> =>
  (await listAudit(sql, { subject, limit: 500 }))
    .toReversed()
    .map(({ actor, action }) => `${actor} ${action}`);
