import type { Database } from '#db/client.ts';
import { type ApprovalRow, findApproval } from '#db/queries/approvals.ts';
import { listAudit } from '#db/queries/audit.ts';
import { findOperator } from '#db/queries/operators.ts';
import type { Role } from '#src/contract/roles.ts';
import { operate } from '#src/operations/operate.ts';
import type { Caller, Given } from '#src/operations/operation.ts';
import {
  type approve,
  type cancelRequest,
  type declineRequest,
  requestApproval,
} from '#src/operations/requests.ts';
import { TESTS } from '#test/support/console.ts';
import { addOperator, openSessions, operatorCaller, testPlatform } from '#test/support/operate.ts';

/** Adds operators who never sign in: `kim` with these roles, and so on. */
export const addOperators = async (sql: Database, people: Record<string, Role[]>): Promise<void> => {
  for (const [login, roles] of Object.entries(people))
    await addOperator(sql, TESTS, { login, name: login, roles });
  // All of them count as the second person at once.
  await sql`update operators set counts_at = now()`;
  await openSessions(sql);
};

/** An operator who is signed in, with the present roles. */
const signedIn = async (sql: Database, login: string): Promise<Caller> => {
  await openSessions(sql);
  return operatorCaller(login, ...((await findOperator(sql, login))?.roles ?? []));
};

export const askBy = async (sql: Database, login: string, request: Given<typeof requestApproval.input>) =>
  operate(requestApproval, request, await signedIn(sql, login), testPlatform(sql));

type End = typeof approve | typeof cancelRequest | typeof declineRequest;

/** Approves, cancels or declines a request. */
export const answerBy = async (
  sql: Database,
  login: string,
  operation: End,
  approval_id: string,
): Promise<ApprovalRow> => {
  const kind = (await findApproval(sql, approval_id))?.kind ?? 'reveal';
  return operate(
    operation as typeof approve,
    { approval_id, kind },
    await signedIn(sql, login),
    testPlatform(sql),
  );
};

/** Lets time pass for a request. */
export const passMinutes = async (sql: Database, approval_id: string, minutes: number): Promise<void> => {
  await sql`
    update approvals set requested_at = requested_at - ${minutes} * interval '1 minute',
      approved_at = approved_at - ${minutes} * interval '1 minute',
      expires_at = expires_at - ${minutes} * interval '1 minute' where approval_id = ${approval_id}`;
};

/** The actions on a subject, in order: `kim approval.request`. */
export const actionsOn = async (sql: Database, subject: string): Promise<string[]> =>
  (await listAudit(sql, { subject, limit: 500 }))
    .toReversed()
    .map(({ actor, action }) => `${actor} ${action}`);
