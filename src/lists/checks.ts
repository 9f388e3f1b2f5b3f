import { z } from 'zod';
import { type CheckRow, listCheckPage } from '#db/queries/application-checks.ts';
import { count, time } from '#src/contract/documents.ts';
import { countColumn } from '#src/lists/columns.ts';
import { theApplication } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

const stateOf = ({ finished_at, error, failed }: CheckRow): string => {
  if (finished_at === null) return 'open';
  return error === null && failed === 0 ? 'passed' : 'failed';
};

/** The reports of the checks that operators or the developer requested of a worker, without the token or a KYC value. */
export const checkList = defineList({
  name: 'application.checks',
  nouns: ['report', 'reports'],
  right: 'view',
  row: z.object({
    check_id: z.guid(),
    application_id: z.string(),
    requested_by: z.string(),
    requested_at: time,
    finished_at: time.nullable().describe('Null while it runs.'),
    passed: count,
    failed: count,
    skipped: count,
    cases: z.array(z.record(z.string(), z.unknown())).describe('As app check --json prints them.'),
    error: z.string().nullable().describe('Why there is no report.'),
  }),
  filter: z.object({ application_id: theApplication() }),
  sorts: ['requested_at'],
  order: '-requested_at',
  columns: [
    { key: 'requested', kind: 'age', value: (row) => row.requested_at, sort: 'requested_at' },
    { key: 'requested_by', title: 'By' },
    { key: 'state', kind: 'status', value: stateOf },
    countColumn('passed'),
    countColumn('failed'),
    countColumn('skipped'),
    { key: 'error', width: 'medium' },
  ],
  empty: 'No check was requested yet: npx catalogue app check calls the webhooks from this machine.',
  read: listCheckPage,
});
