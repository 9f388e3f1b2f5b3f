/**
 * What operators do with requests: ask, approve, cancel, decline. They are signed in. The command line, which cannot
 * verify who uses it, lists requests, closes as void those whose subject has changed, and uses approved ones.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { Database, Queryable } from '#db/client.ts';
import {
  type ApprovalRow,
  approveRequest,
  closeRequest,
  findApproval,
  findVersion,
  hasRoleNow,
  insertApproval,
  listApprovals,
} from '#db/queries/approvals.ts';
import { type Actor, type AuditEntry, operatorActor, recordAudit } from '#db/queries/audit.ts';
import type { Asked } from '#db/schema/approvals.ts';
import { APPROVE_WITHIN_MINUTES, type ApprovalKind, USE_WITHIN_MINUTES } from '#src/contract/approvals.ts';
import { namesOfRoles } from '#src/contract/roles.ts';
import { coerceError } from '#src/errors.ts';
import {
  ApprovalError,
  MissingRoleError,
  requireVersion,
  rolesOfKind,
} from '#src/operations/second-person.ts';

const REASON_MAX = 1_000;
const SYSTEM: Actor = { actor: 'catalogue', actor_kind: 'system' };

const entryOf = (
  actor: Actor,
  action: AuditEntry['action'],
  { approval_id, kind, subject, asked, version }: ApprovalRow,
  reason: string | null = null,
): AuditEntry => ({ ...actor, action, subject, reason, details: { approval_id, kind, version, ...asked } });

/**
 * Runs `work`. An ApprovalError is written to the audit log, after the transaction of `work` has ended, and thrown again.
 */
export const auditRefusal = async <Result>(
  sql: Queryable,
  entry: Actor & { subject: string; approval_id?: string | undefined },
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (thrown) {
    const error = coerceError(thrown);
    const { subject, approval_id, ...actor } = entry;
    if (error instanceof ApprovalError) {
      const details = approval_id === undefined ? {} : { approval_id };
      await recordAudit(sql, [
        { ...actor, action: 'approval.refuse', subject, reason: error.message, details },
      ]);
    }
    throw error;
  }
};

/**
 * Asks for an approval.
 * @param request.asked what is asked for beyond kind and subject, such as the games of a run
 * @param request.seen the version that the page showed: refused if it has changed since. Absent: the present version
 * @throws ApprovalError if the request gives no reason, if there is nothing to do, if the subject has changed, or if this
 *   operator has an open request for the same
 */
export const askForApproval = async (
  sql: Database,
  login: string,
  request: { kind: ApprovalKind; subject: string; asked?: Asked; reason: string; seen?: string | undefined },
): Promise<ApprovalRow> => {
  const { kind, subject, asked = {}, seen } = request;
  const reason = request.reason.trim().slice(0, REASON_MAX);
  if (reason === '') throw new ApprovalError('Give a reason: the second person and the audit log need it.');
  return sql.begin(async (tx) => {
    const version = await requireVersion(tx, kind, subject);
    if (seen !== undefined && seen !== version)
      throw new ApprovalError('This has changed since the page was shown: look at it, then ask again.');
    const approval_id = randomUUIDv7();
    const row = await insertApproval(tx, {
      approval_id,
      kind,
      subject,
      version,
      asked,
      reason,
      asked_by: login,
    });
    if (row === undefined)
      throw new ApprovalError('You have asked for this already: use that request, or cancel it first.');
    await recordAudit(tx, [entryOf(operatorActor(login), 'approval.ask', row, reason)]);
    return row;
  });
};

/** Ends a request whose subject has changed. */
const closeAsVoid = async (tx: Queryable, row: ApprovalRow): Promise<void> => {
  if (await closeRequest(tx, row.approval_id, 'void'))
    await recordAudit(tx, [entryOf(SYSTEM, 'approval.void', row, 'what was asked for has changed since')]);
};

const VOID = 'What was asked for has changed since: the request is void. If it is still needed, ask again.';

const NOT_WAITING: Partial<Record<ApprovalRow['state'], string>> = {
  approved: 'This request is approved already.',
  used: 'This request was used already.',
  cancelled: 'This request was cancelled meanwhile.',
  declined: 'This request was declined meanwhile.',
  void: VOID,
};

/** Why a request no longer waits for its approval: it is approved, or has ended. Undefined: it waits. */
const explainNotWaiting = ({ state, approved_at }: ApprovalRow): string | undefined => {
  if (state !== 'expired') return NOT_WAITING[state];
  const why =
    approved_at === null
      ? `it was not approved within ${APPROVE_WITHIN_MINUTES} minutes`
      : `it was approved, but not used within ${USE_WITHIN_MINUTES} minutes`;
  return `This request has expired: ${why}. If it is still needed, ask again.`;
};

const requireRequest = async (
  sql: Queryable,
  kinds: readonly ApprovalKind[],
  approval_id: string,
): Promise<ApprovalRow> => {
  const row = await findApproval(sql, approval_id);
  if (row !== undefined && kinds.includes(row.kind)) return row;
  throw new ApprovalError('There is no such request.');
};

/** Works on one request in a transaction. A text that `work` returns is thrown as an ApprovalError after the commit. */
const onRequest = async (
  sql: Database,
  login: string,
  kinds: readonly ApprovalKind[],
  approval_id: string,
  work: (tx: Queryable, row: ApprovalRow) => Promise<ApprovalRow | string>,
): Promise<ApprovalRow> => {
  const { subject } = await requireRequest(sql, kinds, approval_id);
  return auditRefusal(sql, { ...operatorActor(login), subject, approval_id }, async () => {
    const result = await sql.begin(async (tx) => work(tx, await requireRequest(tx, kinds, approval_id)));
    if (typeof result === 'string') throw new ApprovalError(result);
    return result;
  });
};

/**
 * Approves what another operator asked for.
 * @param kinds the kinds that the caller (the console or the KYC desk) may approve: others are not found
 * @throws ApprovalError if the request is unknown, expired, ended or the operator's own, if the role is missing, or if the
 *   subject has changed
 */
export const approve = (
  sql: Database,
  login: string,
  kinds: readonly ApprovalKind[],
  approval_id: string,
): Promise<ApprovalRow> =>
  onRequest(sql, login, kinds, approval_id, async (tx, row) => {
    if (row.asked_by === login)
      return 'You asked for this yourself: another operator must approve it, even if you are an administrator.';
    const version = await findVersion(tx, row.kind, row.subject);
    const { approve: roles } = rolesOfKind(row.kind);
    if (row.state === 'asked' && version !== row.version) {
      await closeAsVoid(tx, row);
      return VOID;
    }
    const approved = await approveRequest(tx, { approval_id, by: login, version: row.version }, roles);
    if (approved === undefined) {
      const now = await requireRequest(tx, kinds, approval_id);
      return explainNotWaiting(now) ?? `It takes the role ${namesOfRoles(roles)} to approve this.`;
    }
    await recordAudit(tx, [entryOf(operatorActor(login), 'approval.approve', approved, row.reason)]);
    return approved;
  });

/**
 * Ends a request: its asker cancels it, another operator who may approve it declines it. The asker may then ask again.
 * @throws MissingRoleError if another operator has no role that may approve
 * @throws ApprovalError if the request is unknown or has ended
 */
export const endRequest = (
  sql: Database,
  login: string,
  kinds: readonly ApprovalKind[],
  approval_id: string,
): Promise<ApprovalRow> =>
  onRequest(sql, login, kinds, approval_id, async (tx, row) => {
    const closing = row.asked_by === login ? 'cancelled' : 'declined';
    const { approve: roles } = rolesOfKind(row.kind);
    if (closing === 'declined' && !(await hasRoleNow(tx, login, roles)))
      throw new MissingRoleError(
        `It takes the role ${namesOfRoles(roles)} to decline this: ${row.asked_by} asked for it and can cancel it.`,
      );
    if (row.state === 'expired' || !(await closeRequest(tx, approval_id, closing)))
      return explainNotWaiting(await requireRequest(tx, kinds, approval_id)) ?? 'This request has ended.';
    const action = closing === 'cancelled' ? 'approval.cancel' : 'approval.decline';
    await recordAudit(tx, [entryOf(operatorActor(login), action, row, row.reason)]);
    return row;
  });

const OPEN_MAX = 500;

/**
 * Closes the open requests whose subject has changed, as void. Of withdrawals this counts the games of each run: a page
 * that refreshes itself lists them with `listWithdrawalRequests`.
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
    else await sql.begin((tx) => closeAsVoid(tx, row));
  }
  return valid;
};

/** Closes all open requests for a subject as void, in the transaction that changes it. */
export const voidOpenRequests = async (tx: Queryable, kind: ApprovalKind, subject: string): Promise<void> => {
  for (const row of await listApprovals(tx, { kinds: [kind], subject, open: true, limit: OPEN_MAX }))
    await closeAsVoid(tx, row);
};
