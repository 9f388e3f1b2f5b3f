import { z } from 'zod';
import {
  DEVELOPER_SORTS,
  type Developer,
  listDeveloperPage,
  listFormerRecordPage,
} from '#db/queries/kyc-list.ts';
import { count, time } from '#src/contract/documents.ts';
import { APPLICATION_STATUSES, KYC_STATES } from '#src/contract/words.ts';
import { APPLICATION } from '#src/lists/columns.ts';
import { choice, flag, search, theApplication } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

/** What a person must look at. */
const formatProblem = ({ reason, refused_cp_id, same_tax_id }: Developer): string => {
  const parts = reason === null ? [] : [reason];
  if (refused_cp_id !== null) parts.push(`new cp_id ${refused_cp_id} waits for kyc accept-cp-id`);
  if (same_tax_id.length > 0) parts.push(`same tax_id as ${same_tax_id.join(', ')}`);
  return parts.join('; ');
};

const formatFields = (changed_fields: readonly string[] | null): string => {
  if (changed_fields === null) return 'not known';
  return changed_fields.length === 0 ? 'first record' : changed_fields.join(', ');
};

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
    same_tax_id: z.array(z.string()).describe('Other applications with the same tax id.'),
  }),
  filter: z.object({
    search: search('id or name of the application', 'Developer'),
    state: choice(KYC_STATES, { name: 'status', title: 'State', description: 'only of this state' }),
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
