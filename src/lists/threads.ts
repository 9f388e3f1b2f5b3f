/** What is written about one game, and the appeals that wait. */
import { z } from 'zod';
import { APPEAL_SORTS, listAppealPage, listOverturnedPage } from '#db/queries/appeals.ts';
import { listThreadPage, THREAD_SORTS } from '#db/queries/threads.ts';
import { count, gameNames, time } from '#src/contract/documents.ts';
import { MESSAGE_KINDS } from '#src/contract/words.ts';
import { APPLICATION, countColumn, DECIDABLE, GAME_NAME } from '#src/lists/columns.ts';
import { exactly, flag, ofApplication, since, theId } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

/** The thread of one game. */
export const threadList = defineList({
  name: 'game.thread',
  nouns: ['entry', 'entries'],
  right: 'view',
  row: z.object({
    entry: z.string(),
    game_id: z.guid(),
    kind: z.enum([...MESSAGE_KINDS, 'appeal', 'upheld', 'overturned']),
    written_by: z.string().describe('An operator; of an answer or an appeal, the application.'),
    text: z.string(),
    written_at: time,
  }),
  filter: z.object({
    game_id: theId({ name: 'game', title: 'Game', description: 'the game', table: 'games' }),
    is_public: flag({
      name: 'public',
      title: 'Public',
      description: 'only what its developer reads too',
    }),
  }),
  sorts: THREAD_SORTS,
  order: 'written_at',
  columns: [
    { key: 'written', kind: 'time', value: (row) => row.written_at, sort: 'written_at' },
    { key: 'kind', kind: 'status' },
    { key: 'written_by', title: 'By' },
    { key: 'text' },
  ],
  empty: 'No message yet.',
  read: listThreadPage,
});

/** The appeals that wait for a decision. */
export const appealList = defineList({
  name: 'review.appeals',
  nouns: ['appeal', 'appeals'],
  right: 'view',
  row: gameNames.extend({
    game: z.string().describe('As decisions on the command line name it.'),
    appeal_id: z.int(),
    revision: z.int(),
    application_name: z.string(),
    audit_id: z.int().describe('The rejection.'),
    rejected_by: z.string(),
    reason: z.string().nullable(),
    rejection: z.string().nullable().describe('The text of the rejection, which the developer reads.'),
    text: z.string(),
    opened_at: time,
    due: time.describe('When it should be decided.'),
  }),
  filter: z.object({
    application_id: ofApplication('only appeals of this application'),
    reviewer: exactly({
      name: 'reviewer',
      title: 'Reviewer',
      description: 'only appeals that this reviewer may decide: against rejections of others',
    }),
  }),
  sorts: APPEAL_SORTS,
  order: 'due',
  columns: [
    DECIDABLE,
    { ...APPLICATION, key: 'application', on: 'terminal' },
    { ...GAME_NAME, note: ({ application_name }) => application_name },
    { key: 'waits', title: 'Appealed', kind: 'age', value: (row) => row.opened_at, width: 'wider' },
    { key: 'due', kind: 'age', sort: 'due' },
    { key: 'rejected_by', title: 'Rejected by', on: 'terminal' },
    { key: 'reason', value: (row) => row.reason_label, note: (row) => `by ${row.rejected_by}` },
    { key: 'text', title: 'Appeal' },
  ],
  empty: 'No appeal waits.',
  noMatch: 'No appeal matches.',
  document: (row) => ({ ...row, game: DECIDABLE.value(row) }),
  read: listAppealPage,
});

/** How rejections fared, by reviewer and reason. */
export const overturnedList = defineList({
  name: 'review.overturned',
  nouns: ['row', 'rows'],
  right: 'view',
  row: z.object({
    reviewer: z.string(),
    reason: z.string(),
    reason_label: z.string().nullable(),
    rejections: count,
    appeals: count,
    upheld: count,
    overturned: count,
    share: z.int().nullable().describe('Overturned of those that were decided, in percent.'),
    median_wait_ms: z.number().nullable().describe('From the appeal to its decision.'),
  }),
  filter: z.object({ since: since() }),
  sorts: ['reviewer'],
  order: 'reviewer',
  columns: [
    { key: 'reviewer', sort: 'reviewer' },
    { key: 'reason', label: ({ reason_label }) => reason_label ?? 'no reason given' },
    { ...countColumn('rejections'), width: 'wide' },
    { ...countColumn('appeals'), width: 'wide' },
    { ...countColumn('upheld'), width: 'wider' },
    { ...countColumn('overturned'), width: 'wider' },
    { key: 'share', title: 'Overturned, %', kind: 'number' },
    { key: 'median_wait_ms', title: 'Median wait', kind: 'duration', width: 'medium' },
  ],
  empty: 'No game was rejected in the last 30 days.',
  noMatch: 'No game was rejected in this time.',
  read: listOverturnedPage,
});
