/**
 * What operators do with requests of the rule of two persons: make, approve, cancel, decline. The command line, which
 * cannot verify who uses it, lists requests and uses approved ones.
 */

import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import {
  type ApprovalRow,
  approveRequest,
  closeRequest,
  findVersion,
  insertApproval,
  isCounted,
} from '#db/queries/approvals.ts';
import { displayName } from '#src/contract/application-settings.ts';
import {
  APPROVAL_KINDS,
  APPROVAL_RIGHTS,
  APPROVE_WITHIN_MINUTES,
  type ApprovalKind,
  OPERATOR_KINDS,
  USE_WITHIN_MINUTES,
} from '#src/contract/approvals.ts';
import { approvalDocument } from '#src/contract/documents.ts';
import { roles } from '#src/contract/operators.ts';
import { namesOfRoles } from '#src/contract/roles.ts';
import { reasonText } from '#src/contract/text.ts';
import { CatalogueError } from '#src/errors.ts';
import {
  noteRequest,
  noteVoid,
  type OneRequest,
  ofRequest,
  requireRequest,
} from '#src/operations/approvals.ts';
import { type Caller, defineOperation, ForbiddenError } from '#src/operations/operation.ts';
import { ApprovalError, rolesOfKind } from '#src/operations/second-person.ts';
import { verdictTerms } from '#src/operations/verdicts.ts';
import { selectedGames } from '#src/operations/withdrawals.ts';

const NOTHING_TO_APPROVE: Record<ApprovalKind, string> = {
  reveal: 'There is no record to reveal.',
  erase: 'There is no record to erase.',
  'cp-id': 'No other cp_id waits to be accepted.',
  withdrawals: 'No game of this run waits to be withdrawn, or a later run has begun.',
  officer: 'There is nothing to approve.',
  verdict: 'There is no record to give a verdict on.',
  reviewer: 'There is nothing to approve.',
};

const APPLICATION = /^application:[A-Za-z0-9-]{1,63}$/;
const OPERATOR = /^operator:[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$/;
const RUN = /^run:[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/** The schema of a request of these kinds. @param form that of its subject, as the audit log names it */
const requestOf = <const Kinds extends readonly [ApprovalKind, ...ApprovalKind[]]>(
  kinds: Kinds,
  form: RegExp,
) =>
  z.object({
    kind: z.enum(kinds),
    subject: z
      .string()
      .regex(form, 'has not the form <kind>:<id>, or is of another kind than the request')
      .toLowerCase(),
    /** The version that the page showed. If it has changed since, the request is refused. Absent: the present version. */
    seen: z.string().optional(),
    reason: reasonText('the second person and the audit log need it'),
  });

/** @throws ForbiddenError by a token, unless the request is about withdrawals, because a person makes and ends the others */
const requirePerson = ({ token_id }: Caller, kind: ApprovalKind): void => {
  if (token_id !== undefined && kind !== 'withdrawals')
    throw new ForbiddenError('By a token, an operator requests withdrawals alone, and ends such requests.');
};

/**
 * Administrators make administrators alone, so a new one could request what the other one approves, who is a reviewer or an
 * officer too. @throws ApprovalError
 */
const requireCounted = async (tx: Queryable, { actor }: Caller, kind: ApprovalKind): Promise<void> => {
  if (!rolesOfKind(kind).request.includes('admin') || (await isCounted(tx, actor.actor))) return;
  throw new ApprovalError(
    'An operator who is new, or was given a role or a sign-in link, requests this from the next day on.',
  );
};

export const requestApproval = defineOperation({
  name: 'approval.request',
  title: 'Request the approval of a second person',
  answer: approvalDocument,
  right: (input) => APPROVAL_RIGHTS[input.kind].request,
  knownBy: 'operator',
  input: z.discriminatedUnion(
    'kind',
    [
      requestOf(['reveal', 'erase', 'cp-id'], APPLICATION),
      requestOf(['verdict'], APPLICATION).extend(verdictTerms.shape),
      requestOf(['withdrawals'], RUN).extend({
        /** Games of a suspect run; absent: all of them. */
        game_ids: selectedGames.optional(),
      }),
      requestOf(OPERATOR_KINDS, OPERATOR).extend({
        /** What the administrator does. */
        act: z.enum(['add', 'roles', 'link', 'enable']).optional(),
        name: displayName.optional(),
        roles: roles.optional(),
      }),
    ],
    `must be one of ${APPROVAL_KINDS.join(', ')}`,
  ),
  subject: ({ subject }) => subject,
  run: async (tx, { kind, subject, seen, reason, ...requested }, { caller }) => {
    requirePerson(caller, kind);
    await requireCounted(tx, caller, kind);
    const version = await findVersion(tx, kind, subject);
    if (version === null) throw new CatalogueError(NOTHING_TO_APPROVE[kind]);
    if (seen !== undefined && seen !== version)
      throw new CatalogueError(
        'This has changed since the page was shown: look at it, then request it again.',
      );
    const row = await insertApproval(tx, {
      approval_id: randomUUIDv7(),
      kind,
      subject,
      version,
      requested,
      reason,
      requested_by: caller.actor.actor,
    });
    if (row !== undefined) return row;
    throw new CatalogueError('You have requested this already: use that request, or cancel it first.');
  },
  log: noteRequest,
});

const VOID =
  'What was requested has changed since: the request is void. If it is still needed, request it again.';

const NOT_WAITING: Partial<Record<ApprovalRow['state'], string>> = {
  approved: 'This request is approved already.',
  used: 'This request was used already.',
  cancelled: 'This request was cancelled meanwhile.',
  declined: 'This request was declined meanwhile.',
  void: VOID,
};

/** Explains why a request no longer waits for approval: it is approved, or has ended. Undefined if it waits. */
const explainNotWaiting = ({ state, approved_at }: ApprovalRow): string | undefined => {
  if (state !== 'expired') return NOT_WAITING[state];
  const why =
    approved_at === null
      ? `it was not approved within ${APPROVE_WITHIN_MINUTES} minutes`
      : `it was approved, but not used within ${USE_WITHIN_MINUTES} minutes`;
  return `This request has expired: ${why}. If it is still needed, request it again.`;
};

export const approve = defineOperation({
  name: 'approval.approve',
  title: 'Approve what another operator requests',
  right: (input) => APPROVAL_RIGHTS[input.kind].approve,
  knownBy: 'session',
  ...ofRequest,
  run: async (tx, input, { caller }) => {
    const { actor: by } = caller.actor;
    const row = await requireRequest(tx, input);
    const { approval_id, kind, subject, version } = row;
    if (row.requested_by === by)
      throw new ApprovalError(
        'You requested this yourself: another operator must approve it, even if you are an administrator.',
      );
    if (row.state === 'requested' && (await findVersion(tx, kind, subject)) !== version)
      return { row, isStale: true, isClosed: await closeRequest(tx, approval_id, 'void') };
    const { approve: roles } = rolesOfKind(kind);
    const approved = await approveRequest(tx, { approval_id, by, version }, roles);
    if (approved !== undefined) return { row: approved, isStale: false };
    const why = explainNotWaiting(await requireRequest(tx, input));
    const counts = 'an operator who was given the role, or a sign-in link, counts from the next day on';
    throw new ApprovalError(
      why ?? `It takes the role ${namesOfRoles(roles)} to approve this, for a day: ${counts}.`,
    );
  },
  log: ({ row, isStale, isClosed }) => {
    if (!isStale) return noteRequest(row);
    return isClosed ? noteVoid(row) : [];
  },
  after: async ({ row, isStale }) => {
    if (isStale) throw new ApprovalError(VOID);
    return row;
  },
});

/** Ends a request that was not used. @throws ApprovalError if it has ended */
const end = async (
  tx: Queryable,
  input: OneRequest,
  closing: 'cancelled' | 'declined',
  caller: Caller,
): Promise<ApprovalRow> => {
  requirePerson(caller, input.kind);
  const row = await requireRequest(tx, input);
  if (row.state !== 'expired' && (await closeRequest(tx, input.approval_id, closing))) return row;
  throw new ApprovalError(explainNotWaiting(await requireRequest(tx, input)) ?? 'This request has ended.');
};

export const cancelRequest = defineOperation({
  name: 'approval.cancel',
  title: 'Cancel an own request',
  answer: approvalDocument,
  right: (input) => APPROVAL_RIGHTS[input.kind].request,
  knownBy: 'operator',
  ...ofRequest,
  run: async (tx, input, { caller }) => {
    const row = await end(tx, input, 'cancelled', caller);
    if (row.requested_by === caller.actor.actor) return row;
    throw new ApprovalError(`${row.requested_by} requested this: only ${row.requested_by} can cancel it.`);
  },
  log: noteRequest,
});

export const declineRequest = defineOperation({
  name: 'approval.decline',
  title: 'Decline what another operator requests',
  answer: approvalDocument,
  right: (input) => APPROVAL_RIGHTS[input.kind].approve,
  knownBy: 'operator',
  ...ofRequest,
  run: async (tx, input, { caller }) => {
    const row = await end(tx, input, 'declined', caller);
    if (row.requested_by !== caller.actor.actor) return row;
    throw new ApprovalError('You requested this yourself: cancel it.');
  },
  log: noteRequest,
});
