/** Requests of the rule of two persons, and how they end when their subject has changed. */
import { z } from 'zod';
import type { Database, Queryable } from '#db/client.ts';
import {
  type ApprovalRow,
  closeRequest,
  findApproval,
  findVersion,
  listApprovals,
} from '#db/queries/approvals.ts';
import { APPROVAL_KINDS, type ApprovalKind } from '#src/contract/approvals.ts';
import { NotFoundError } from '#src/errors.ts';
import { operateAsSystem } from '#src/operations/operate.ts';
import { type AuditNote, defineOperation } from '#src/operations/operation.ts';

/** One request. A site names the kinds that it handles; requests of others do not exist there. */
const oneRequest = z.object({ approval_id: z.guid().toLowerCase(), kind: z.enum(APPROVAL_KINDS) });
export type OneRequest = z.infer<typeof oneRequest>;

/** @throws NotFoundError */
export const requireRequest = async (
  sql: Queryable,
  { approval_id, kind }: OneRequest,
): Promise<ApprovalRow> => {
  const row = await findApproval(sql, approval_id);
  if (row?.kind === kind) return row;
  throw new NotFoundError('approval', approval_id);
};

/** The input and the subject of an operation on one request. */
export const ofRequest = {
  input: oneRequest,
  subject: async (input: OneRequest, { sql }: { sql: Queryable }) =>
    (await requireRequest(sql, input)).subject,
};

export const noteRequest = ({ approval_id, kind, version, requested, reason }: ApprovalRow): AuditNote => ({
  reason,
  details: { approval_id, kind, version, ...requested },
});

/** The entry of a request that has ended because its subject has changed. */
export const noteVoid = (row: ApprovalRow): AuditNote => ({
  ...noteRequest(row),
  actor: 'catalogue',
  actor_kind: 'system',
  os_user: null,
  action: 'approval.void',
  reason: 'what was requested has changed since',
});

export const voidRequest = defineOperation({
  name: 'approval.void',
  title: 'Close a request whose subject has changed',
  right: 'system',
  ...ofRequest,
  run: async (tx, input) => {
    const row = await requireRequest(tx, input);
    return (await closeRequest(tx, input.approval_id, 'void')) ? row : undefined;
  },
  log: (row) => (row === undefined ? [] : noteVoid(row)),
});

const OPEN_MAX = 500;

/**
 * Closes the open requests whose subject has changed, as void. For withdrawals this counts the games of each run, so a page
 * that refreshes itself reads the list `runRequestList` instead.
 * @returns the others, latest first
 */
export const refreshOpenRequests = async (
  sql: Database,
  kinds: readonly ApprovalKind[],
  subject?: string,
): Promise<ApprovalRow[]> => {
  const rows = await listApprovals(sql, { kinds, subject, open: true, limit: OPEN_MAX });
  const versions = new Map<string, string | null>();
  const valid: ApprovalRow[] = [];
  for (const row of rows) {
    const key = `${row.kind} ${row.subject}`;
    if (!versions.has(key)) versions.set(key, await findVersion(sql, row.kind, row.subject));
    if (versions.get(key) === row.version) valid.push(row);
    else await operateAsSystem(voidRequest, row, 'catalogue', sql);
  }
  return valid;
};

/** Closes all open requests for a subject as void, in the transaction that changes it. @returns those that it closed */
export const voidOpenRequests = async (
  tx: Queryable,
  kind: ApprovalKind,
  subject: string,
): Promise<ApprovalRow[]> => {
  const closed: ApprovalRow[] = [];
  for (const row of await listApprovals(tx, { kinds: [kind], subject, open: true, limit: OPEN_MAX }))
    if (await closeRequest(tx, row.approval_id, 'void')) closed.push(row);
  return closed;
};
