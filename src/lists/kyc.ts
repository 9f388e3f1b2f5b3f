import { z } from 'zod';
import {
  DEVELOPER_SORTS,
  type Developer,
  listDeveloperPage,
  listFormerRecordPage,
  VERDICT_CONDITIONS,
} from '#db/queries/kyc-list.ts';
import { ENDS_SOON_DAYS, listUnverifiedPage, listVerdictPage } from '#db/queries/verdicts.ts';
import { count, time, verdictDocument } from '#src/contract/documents.ts';
import { APPLICATION_STATUSES, KYC_STATES, VERDICT_ENDINGS, VERDICTS } from '#src/contract/words.ts';
import { APPLICATION } from '#src/lists/columns.ts';
import { choice, flag, onlyApplication, search, theApplication } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

const VERDICT_STATES = ['standing', ...VERDICT_ENDINGS] as const;

/** Describes what a person must look at. */
const formatProblem = (developer: Developer): string => {
  const { reason, refused_cp_id, same_tax_id, record_cp_id, application_cp_id } = developer;
  const parts = reason === null ? [] : [reason];
  if (record_cp_id !== null && record_cp_id !== application_cp_id)
    parts.push(`its record is of the former cp_id ${record_cp_id}`);
  if (refused_cp_id !== null) parts.push(`new cp_id ${refused_cp_id} waits for kyc accept-cp-id`);
  if (same_tax_id.length > 0) parts.push(`same tax_id as ${same_tax_id.join(', ')}`);
  return parts.join('; ');
};

const formatFields = (changed_fields: readonly string[] | null): string => {
  if (changed_fields === null) return 'not known';
  return changed_fields.length === 0 ? 'first record' : changed_fields.join(', ');
};

/** The verdict that stands, or `none`. */
const standingVerdict = ({ verdict, verdict_state }: Developer): string =>
  verdict_state === 'standing' ? String(verdict) : 'none';

/** The verdict that no longer stands, and how it ended. */
const noteVerdict = ({ verdict, verdict_state }: Developer): string | null =>
  verdict === null || verdict_state === 'standing' ? null : `${verdict}, ${verdict_state}`;

/** The KYC of every application, without a value of a record. */
export const developerList = defineList({
  name: 'kyc.list',
  nouns: ['developer', 'developers'],
  plural: 'kyc',
  right: 'kyc',
  row: z.object({
    application_id: z.string(),
    name: z.string(),
    status: z.enum(APPLICATION_STATUSES),
    state: z.enum(KYC_STATES),
    reason: z.string().nullable(),
    pulled_at: time.nullable(),
    cp_id: z.string().nullable().describe("The platform's own."),
    received_at: time.nullable(),
    changed_fields: z.array(z.string()).nullable(),
    former_versions: count,
    record_id: z.guid().nullable(),
    verdict: z.enum(VERDICTS).nullable().describe('The last one: see verdict_state.'),
    verdict_state: z.enum(VERDICT_STATES).nullable(),
    verdict_until: time.nullable().describe('When it ends, or ended.'),
    same_tax_id: z.array(z.string()).describe('Other applications with the same tax id.'),
  }),
  filter: z.object({
    search: search('id or name of the application', 'Developer'),
    state: choice(KYC_STATES, { name: 'status', title: 'State', description: 'only of this state' }),
    verdict: choice(VERDICT_CONDITIONS, {
      name: 'verdict',
      title: 'Verdict',
      description:
        'waiting: the record of its cp_id is stored and no verdict stands; changed: because the record changed; or only those with this standing verdict',
    }),
    new_cp_id: flag({
      name: 'new-cp-id',
      title: 'New cp_id',
      description: 'only those whose new cp_id waits for a decision',
    }),
  }),
  sorts: DEVELOPER_SORTS,
  order: 'application_id',
  columns: [
    {
      ...APPLICATION,
      title: 'Developer',
      label: ({ name }) => name,
      sort: 'application_id',
    },
    { key: 'name', on: 'terminal' },
    { key: 'state', kind: 'status', note: ({ reason }) => reason },
    { key: 'verdict', kind: 'status', value: standingVerdict, note: noteVerdict },
    { key: 'cp_id', title: 'cp_id', kind: 'id', value: (row) => row.application_cp_id, on: 'terminal' },
    {
      key: 'new_cp_id',
      title: 'The application now sends',
      kind: 'id',
      value: (row) => row.refused_cp_id,
      on: 'none',
    },
    { key: 'pulled', title: 'Since', kind: 'age', value: (row) => row.pulled_at, on: 'none' },
    { key: 'problem', title: 'Look at', value: formatProblem, on: 'terminal' },
    { key: 'record of', title: 'Changed', kind: 'age', value: (row) => row.received_at, sort: 'received_at' },
    {
      key: 'changed fields',
      value: ({ received_at, changed_fields }) =>
        received_at === null ? null : formatFields(changed_fields),
    },
    { key: 'same_tax_id', title: 'Look at', value: ({ same_tax_id }) => same_tax_id.join(', '), on: 'page' },
  ],
  empty: 'No application: npx catalogue app add --help',
  noMatch: 'No developer matches.',
  read: listDeveloperPage,
});

/** The former versions of a record, without a value. */
export const kycVersionList = defineList({
  name: 'kyc.versions',
  nouns: ['version', 'versions'],
  right: 'kyc',
  row: z.object({
    record_id: z.guid(),
    received_at: time,
    replaced_at: time,
    changed_fields: z.array(z.string()).nullable(),
  }),
  filter: z.object({ application_id: theApplication() }),
  sorts: ['replaced_at'],
  order: '-replaced_at',
  columns: [
    { key: 'received', kind: 'time', value: (row) => row.received_at },
    { key: 'replaced', kind: 'time', value: (row) => row.replaced_at, sort: 'replaced_at' },
    { key: 'changed fields', value: ({ changed_fields }) => formatFields(changed_fields) },
  ],
  empty: 'The current record is the first, or former versions were deleted.',
  read: listFormerRecordPage,
});

/** Verdicts on developers. */
export const verdictList = defineList({
  name: 'kyc.verdicts',
  nouns: ['verdict', 'verdicts'],
  right: 'kyc',
  row: verdictDocument.extend({ name: z.string() }),
  filter: z.object({
    application_id: onlyApplication(),
    standing: flag({ name: 'standing', title: 'Standing', description: 'only verdicts that stand' }),
    ends_soon: flag({
      name: 'ends-soon',
      title: 'Ends soon',
      description: `only standing verdicts that end within ${ENDS_SOON_DAYS} days`,
    }),
  }),
  sorts: ['decided_at', 'expires_at'],
  order: '-decided_at',
  columns: [
    { key: 'verdict_id', kind: 'number', on: 'terminal' },
    { ...APPLICATION, title: 'Developer', label: ({ name }) => name },
    { key: 'verdict', kind: 'status' },
    { key: 'state', kind: 'status' },
    { key: 'decided', kind: 'time', value: (row) => row.decided_at, sort: 'decided_at' },
    { key: 'decided_by', title: 'By' },
    { key: 'ends', kind: 'time', value: (row) => row.ended_at ?? row.expires_at, sort: 'expires_at' },
    { key: 'reason', width: 'medium' },
  ],
  empty: 'There was no verdict yet.',
  noMatch: 'No verdict matches.',
  read: listVerdictPage,
});

/** Applications with live games and without the verdict that games need. */
export const unverifiedList = defineList({
  name: 'application.unverified',
  nouns: ['application', 'applications'],
  right: 'view',
  row: z.object({
    application_id: z.string(),
    name: z.string(),
    verdict: z.enum(VERDICTS).nullable(),
    until: time.nullable().describe('When its last verdict ended.'),
  }),
  filter: z.object({}),
  sorts: ['application_id'],
  order: 'application_id',
  read: (sql, _filter, page) => listUnverifiedPage(sql, page),
  columns: [
    { ...APPLICATION, label: ({ name }) => name, sort: 'application_id' },
    { key: 'name', on: 'terminal' },
    { key: 'verdict', title: 'Last verdict', kind: 'status', value: ({ verdict }) => verdict ?? 'none' },
    { key: 'ended', kind: 'age', value: ({ until }) => until },
  ],
  empty: 'No game is live without a verdict that it needs.',
});
