/** What waits for a second person, or was approved: one list for each reader, because each kind has readers of its own. */

import { z } from 'zod';
import type { Database } from '#db/client.ts';
import {
  type ApprovalRow,
  type ListedApproval,
  listApprovalPage,
  listWithdrawalRequestPage,
} from '#db/queries/approvals.ts';
import type { ListPage } from '#db/queries/list-page.ts';
import { APPROVAL_KINDS, type ApprovalKind, KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { approvalDocument, operatorRoles } from '#src/contract/documents.ts';
import { VERDICTS } from '#src/contract/words.ts';
import { choice, flag } from '#src/lists/filters.ts';
import { column, defineList } from '#src/lists/list.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';

const WHAT: Record<ApprovalKind, string> = {
  reveal: 'Reveal the record',
  erase: 'Erase every version of the record',
  'cp-id': 'Accept the new cp_id',
  withdrawals: 'Accept withdrawals',
  officer: 'Make a KYC officer',
  verdict: 'Give the verdict',
  reviewer: 'Make a reviewer',
};

const OPERATOR = {
  add: 'Add the operator',
  roles: 'Give the operator',
  link: 'Open the sign-in of',
  enable: 'Enable',
};

/** Describes what a request would do. */
export const describeRequest = (
  row: Pick<ApprovalRow, 'kind' | 'version' | 'requested' | 'subject'>,
): string => {
  const { kind, version, requested } = row;
  if (kind === 'verdict') return `${WHAT[kind]} ${requested.verdict}`;
  if (kind === 'cp-id') return `${WHAT[kind]} ${version}`;
  if (requested.act === undefined) return WHAT[kind];
  const roles = requested.roles?.join(', ').replaceAll('_', ' ');
  return [OPERATOR[requested.act], idOf(row), roles && `as ${roles}`].filter(Boolean).join(' ');
};

const idOf = ({ subject }: Pick<ApprovalRow, 'subject'>): string => subject.slice(subject.indexOf(':') + 1);

const ID = column<ListedApproval>({ key: 'approval_id', title: 'Id', kind: 'id', on: 'terminal' });
const STATE = column<ListedApproval>({ key: 'state', kind: 'status' });
const REQUESTED_BY = column<ListedApproval>({
  key: 'requested_by',
  title: 'By',
  note: ({ requested_at }) => requested_at,
});
const APPROVED_BY = column<ListedApproval>({ key: 'approved_by', title: 'Second person' });
const REASON = column<ListedApproval>({ key: 'reason' });
const REQUESTED = column<ListedApproval>({
  key: 'requested',
  kind: 'time',
  value: (row) => row.requested_at,
  sort: 'requested_at',
});

const COMMON = {
  nouns: ['request', 'requests'],
  plural: 'approvals',
  sorts: ['requested_at'],
  order: '-requested_at',
  document: ({ requested, ...row }: ListedApproval) => ({ ...requested, ...row }),
  row: approvalDocument.extend({
    act: z.string().optional(),
    name: z.string().optional(),
    roles: operatorRoles.optional(),
    game_ids: z.array(z.guid()).optional(),
    verdict: z.enum(VERDICTS).optional(),
    text: z.string().optional().describe('What the developer reads of the verdict.'),
    expires: z.int().optional().describe('How long the verdict stands, in milliseconds.'),
  }),
} as const;

/** The filter of these kinds, and how they are read: first, open requests whose subject has changed are ended. */
const requestsOf = <const Kinds extends readonly [ApprovalKind, ...ApprovalKind[]]>(kinds: Kinds) => ({
  filter: z.object({
    kind: choice(kinds, { name: 'kind', title: 'Kind', description: 'only this kind' }),
    all: flag({ name: 'all', title: 'All', description: 'also those that were used or have ended' }),
  }),
  read: async (
    sql: Database,
    { kind, all = false }: { kind?: ApprovalKind | undefined; all?: boolean | undefined },
    page: ListPage<'requested_at'>,
  ) => {
    const chosen = kind === undefined ? kinds : [kind];
    await refreshOpenRequests(sql, chosen);
    return listApprovalPage(sql, { kinds: chosen, open: !all }, page);
  },
});

/** Every kind, for operators who may read the audit log. */
export const approvalList = defineList({
  ...COMMON,
  ...requestsOf(APPROVAL_KINDS),
  name: 'approval.list',
  right: 'read_audit',
  columns: [
    ID,
    { key: 'kind', kind: 'word' },
    { key: 'subject', kind: 'id' },
    STATE,
    REQUESTED_BY,
    APPROVED_BY,
    REASON,
  ],
  empty: 'Nothing waits for a second person.',
  noMatch: 'No request matches.',
});

/** What KYC officers request. */
export const kycRequestList = defineList({
  ...COMMON,
  ...requestsOf(KYC_APPROVAL_KINDS),
  name: 'kyc.requests',
  right: 'kyc',
  columns: [
    ID,
    REQUESTED,
    {
      key: 'application_id',
      title: 'Developer',
      kind: 'id',
      value: idOf,
      label: (row) => row.application_name ?? idOf(row),
      link: (row) => ({ to: 'application', id: idOf(row) }),
    },
    { key: 'request', value: describeRequest },
    STATE,
    REQUESTED_BY,
    APPROVED_BY,
    REASON,
  ],
  empty: 'No requests yet.',
  noMatch: 'No request matches.',
});

/** Open requests to withdraw the games of a suspect run. */
export const runRequestList = defineList({
  ...COMMON,
  name: 'run.requests',
  right: 'view',
  filter: z.object({}),
  columns: [
    ID,
    {
      key: 'run_id',
      title: 'Withdrawals',
      value: (row) => row.version,
      link: (row) => ({ to: 'run', id: idOf(row) }),
    },
    STATE,
    REQUESTED_BY,
    { ...REASON, width: 'medium' },
  ],
  empty: 'Nothing waits for a second person.',
  read: (sql, _filter, page) => listWithdrawalRequestPage(sql, page),
});
