/**
 * The rule of two persons: one makes a request and gives a reason, another who has the role approves within an hour, and
 * the first does it once within 15 minutes. Operators cannot approve their own requests. A request whose subject has
 * changed is void.
 */
import type { Queryable } from '#db/client.ts';
import { type ApprovalRow, couldTwoOperators, findApproval, useRequest } from '#db/queries/approvals.ts';
import type { Actor, AuditEntry } from '#db/queries/audit.ts';
import { readOperatorState } from '#db/queries/operators.ts';
import {
  APPROVAL_ACTIONS,
  APPROVAL_RIGHTS,
  APPROVE_WITHIN_MINUTES,
  type ApprovalKind,
  FOUR_EYES_KINDS,
  type FourEyes,
  OPERATOR_KINDS,
  USE_WITHIN_MINUTES,
} from '#src/contract/approvals.ts';
import { namesOfRoles, RIGHTS, type Role } from '#src/contract/roles.ts';
import { CatalogueError } from '#src/errors.ts';

/** Nothing was done. The message says why, and what to do. */
export class ApprovalError extends CatalogueError {
  override readonly name = 'ApprovalError';
  /** What takes two persons; undefined if a request or an approval of it is refused. */
  readonly kind: ApprovalKind | undefined;

  constructor(message: string, kind?: ApprovalKind) {
    super(message);
    this.kind = kind;
  }
}

export const rolesOfKind = (kind: ApprovalKind): { request: readonly Role[]; approve: readonly Role[] } => ({
  request: RIGHTS[APPROVAL_RIGHTS[kind].request],
  approve: RIGHTS[APPROVAL_RIGHTS[kind].approve],
});

/** Is a second person needed? `off`: the setting says no. `alone`: there are no two operators who could. */
export type Need = 'needed' | 'off' | 'alone';

export const readNeed = async (sql: Queryable, fourEyes: FourEyes, kind: ApprovalKind): Promise<Need> => {
  if (kind === 'officer') return 'needed';
  if (kind === 'reviewer') return readNeed(sql, fourEyes, 'withdrawals');
  if (!fourEyes.kinds.some((each) => each === kind)) return 'off';
  if (!fourEyes.onceTwo) return 'needed';
  return (await couldTwoOperators(sql, kind, rolesOfKind(kind))) ? 'needed' : 'alone';
};

/**
 * Warns of what the setting FOUR_EYES lets one person do alone. Every page shows it, and each process logs it at start.
 * @returns null if the rule lets one person do nothing alone
 */
export const describeSinglePersonActions = ({ kinds, onceTwo }: FourEyes): string | null => {
  const alone = onceTwo ? [] : FOUR_EYES_KINDS.filter((kind) => !kinds.includes(kind));
  if (alone.length === 0) return null;
  const actions = alone.map((kind) => APPROVAL_ACTIONS[kind]).join(', ');
  return `FOUR_EYES is ${kinds.join(',') || 'none'}: one person alone can ${actions}.`;
};

/** Names the place to request an approval, as the end of a sentence. */
const placeOf = (kind: ApprovalKind): string => {
  if (kind === 'withdrawals') return 'on the page of the run in the console or by approval/request';
  const isOfOperators = OPERATOR_KINDS.some((each) => each === kind);
  return isOfOperators ? 'on the page of the operators in the console' : 'at the KYC desk';
};

const again = (kind: ApprovalKind): string => `request it again ${placeOf(kind)}`;

const explainLostRole = ({ kind, requested_by, approved_by }: ApprovalRow): string =>
  `${requested_by} or ${approved_by} is disabled, or has lost the role: ${again(kind)}.`;

/** Explains why a request cannot be used for this act, by this person. */
const explain = (
  row: ApprovalRow | undefined,
  use: { approval_id: string; kind: ApprovalKind; subject: string; version: string; by: string },
): string => {
  if (row === undefined || row.kind !== use.kind || row.subject !== use.subject)
    return `${use.approval_id} is no approval to ${APPROVAL_ACTIONS[use.kind]} of ${use.subject}.`;
  if (row.requested_by !== use.by)
    return `${row.requested_by} requested this: only ${row.requested_by} can use the approval.`;
  if (row.state === 'requested') return 'This is not approved yet: another operator must approve it.';
  if (row.state === 'used')
    return `This approval was used at ${row.used_at?.toISOString()}: ${again(use.kind)}.`;
  if (row.state === 'expired') {
    const why =
      row.approved_at === null
        ? `request has expired: another operator approves it within ${APPROVE_WITHIN_MINUTES} minutes`
        : `approval has expired: an approved request is used within ${USE_WITHIN_MINUTES} minutes`;
    return `This ${why}. If you still need it, ${again(use.kind)}.`;
  }
  if (row.state === 'cancelled' || row.state === 'declined') return `This request was ${row.state}.`;
  if (row.state === 'void' || row.version !== use.version)
    return `What was approved has changed since, so the approval is void: look at it, then ${again(use.kind)}.`;
  return explainLostRole(row);
};

/**
 * Refuses what one person may not do alone.
 * @returns why there is no second person, for the details of the audit log
 * @throws ApprovalError if it takes two
 */
export const refuseIfTwoNeeded = async (
  tx: Queryable,
  fourEyes: FourEyes,
  kind: ApprovalKind,
): Promise<{ second_person: string }> => {
  const need = await readNeed(tx, fourEyes, kind);
  if (need === 'needed')
    throw new ApprovalError(
      `It takes two persons to ${APPROVAL_ACTIONS[kind]}: request it ${placeOf(kind)} and give a reason, let another ${namesOfRoles(rolesOfKind(kind).approve)} approve it there, then use the approval within ${USE_WITHIN_MINUTES} minutes (on the command line: --approval <id>).${kind === 'officer' ? ' The first two officers are added on the command line.' : ''}`,
      kind,
    );
  return { second_person: need === 'off' ? 'none: FOUR_EYES' : 'none: no two operators have the role' };
};

/**
 * Requires the second person for what this transaction does, and uses the request up. Call it after the subject was
 * locked, before the change.
 * @param use.version the present version, read in this transaction
 * @returns the request that was used, entries for the audit log to write before the action's own, and details for
 * that one: who was the second person, or why there was none
 * @throws ApprovalError with the reason
 */
export const requireSecondPerson = async (
  tx: Queryable,
  { fourEyes, approval_id }: { fourEyes: FourEyes; approval_id: string | undefined },
  use: { kind: ApprovalKind; subject: string; version: string; actor: Actor },
): Promise<{
  approval: ApprovalRow | undefined;
  entries: AuditEntry[];
  details: Record<string, unknown>;
}> => {
  const { kind, subject, version, actor } = use;
  if (approval_id === undefined) {
    const details = await refuseIfTwoNeeded(tx, fourEyes, kind);
    return { approval: undefined, entries: [], details };
  }
  const wanted = { approval_id, kind, subject, version, by: actor.actor };
  const approval = await useRequest(tx, wanted, rolesOfKind(kind));
  if (approval === undefined) throw new ApprovalError(explain(await findApproval(tx, approval_id), wanted));
  const { approved_by: second_person, requested, reason } = approval;
  const details = { approval_id, second_person };
  return {
    approval,
    entries: [
      { ...actor, action: 'approval.use', subject, reason, details: { ...details, kind, ...requested } },
    ],
    details,
  };
};

/**
 * Requires the second person of a request that was used, after the entries, as `requireRightStill` does the caller. The act
 * itself may end the right of an operator whom it is about.
 * @throws ApprovalError if that person was disabled, or lost the role, since
 */
export const requireApproverStill = async (tx: Queryable, request: ApprovalRow): Promise<void> => {
  const { kind, subject, approved_by } = request;
  if (subject === `operator:${approved_by}`) return;
  const now = await readOperatorState(tx, approved_by ?? '');
  const { approve } = rolesOfKind(kind);
  if (now?.status !== 'active' || !now.roles.some((role) => approve.includes(role)))
    throw new ApprovalError(explainLostRole(request));
};
