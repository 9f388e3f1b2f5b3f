import { z } from 'zod';
import { listReasonPage, REASON_SORTS } from '#db/queries/reasons.ts';
import { reasonDocument } from '#src/contract/documents.ts';
import { search } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

/** Why games are rejected. */
export const reasonList = defineList({
  name: 'reason.list',
  nouns: ['reason', 'reasons'],
  right: 'view',
  row: reasonDocument,
  filter: z.object({ search: search('the code or the label') }),
  sorts: REASON_SORTS,
  order: 'position',
  columns: [
    { key: 'code', kind: 'word', sort: 'code' },
    { key: 'label', title: 'What the developer reads', sort: 'label' },
    { key: 'text', title: 'Text of a rejection', width: 'medium' },
    {
      key: 'state',
      kind: 'status',
      value: ({ retired_at }) => (retired_at === null ? 'in use' : 'retired'),
      note: ({ retired_at }) => retired_at,
      sort: 'position',
      on: 'page',
    },
    { key: 'retired', kind: 'time', value: (row) => row.retired_at, on: 'terminal' },
  ],
  empty: 'No reason yet.',
  noMatch: 'No reason matches.',
  read: listReasonPage,
});
