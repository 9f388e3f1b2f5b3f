import { z } from 'zod';
import {
  GAME_SORTS,
  listGamePage,
  listRejectedGamePage,
  listWithdrawnGamePage,
} from '#db/queries/game-list.ts';
import { FOUND_MAX } from '#db/queries/game-search.ts';
import { gameNames, time } from '#src/contract/documents.ts';
import { APPEAL_OUTCOMES, AUDIT_STATUSES } from '#src/contract/words.ts';
import { APPLICATION, APPLICATION_GAME, DECIDABLE, GAME_NAME } from '#src/lists/columns.ts';
import { choice, ofApplication, searchAsTyped, theApplication } from '#src/lists/filters.ts';
import { column, defineList } from '#src/lists/list.ts';

const SEARCHED = 'words of the name in any order, their parts and slips, or the beginning of an id';

const DECIDED_AS = z.string().describe('As decisions on the command line name it.');
const REVISION = column<{ revision: number }>({ key: 'revision', kind: 'number', width: 'wider' });
const FIRST_SEEN = column<{ created_at: Date }>({
  key: 'first_seen',
  kind: 'age',
  value: (row) => row.created_at,
  width: 'wide',
  on: 'none',
});

export const gameList = defineList({
  name: 'game.list',
  nouns: ['game', 'games'],
  right: 'view',
  row: gameNames.extend({
    game: DECIDED_AS,
    audit_status: z.enum(AUDIT_STATUSES),
    audit_time: time.nullable(),
    revision: z.int(),
    withdrawn_at: time.nullable(),
  }),
  filter: z.object({
    search: searchAsTyped({
      title: 'Name or id',
      description: `the ${FOUND_MAX} games that answer best: ${SEARCHED}`,
    }),
    audit_status: choice(AUDIT_STATUSES, {
      name: 'status',
      title: 'Status',
      description: 'only games of this audit_status',
    }),
    application_id: ofApplication('only games of this application'),
  }),
  sorts: GAME_SORTS,
  order: 'first_seen',
  columns: [
    DECIDABLE,
    { ...APPLICATION, key: 'application', on: 'terminal' },
    GAME_NAME,
    {
      key: 'audit_status',
      title: 'Status',
      kind: 'status',
      note: ({ withdrawn_at }) => (withdrawn_at === null ? null : 'withdrawn'),
    },
    {
      ...APPLICATION,
      key: 'application_name',
      label: (row) => row.application_name,
      width: 'wide',
      on: 'page',
    },
    APPLICATION_GAME,
    { key: 'withdrawn', value: ({ withdrawn_at }) => (withdrawn_at === null ? '' : 'yes'), on: 'terminal' },
    { ...REVISION, on: 'page' },
    { key: 'decided', kind: 'age', value: (row) => row.audit_time, width: 'wide', on: 'page' },
    { ...FIRST_SEEN, sort: 'first_seen' },
    { key: 'changed', kind: 'age', value: (row) => row.updated_at, width: 'medium', on: 'none' },
  ],
  empty: 'No game is stored yet: they come with the first run of an application.',
  noMatch: 'No game matches.',
  found: FOUND_MAX,
  document: (row) => ({ ...row, game: DECIDABLE.value(row) }),
  read: listGamePage,
});

export const rejectedGameList = defineList({
  name: 'game.rejected',
  nouns: ['game', 'games'],
  right: 'view',
  row: gameNames.extend({
    game: DECIDED_AS,
    revision: z.int(),
    audit_time: time,
    reason_label: z.string().nullable(),
    text: z.string().nullable().describe('The note of the reviewer, or the answer that refused the appeal.'),
    appeal: z.enum(['open', ...APPEAL_OUTCOMES]).nullable(),
  }),
  filter: z.object({ application_id: theApplication() }),
  sorts: ['audit_time'],
  order: '-audit_time',
  columns: [
    DECIDABLE,
    GAME_NAME,
    APPLICATION_GAME,
    { key: 'why', value: ({ reason_label }) => reason_label ?? 'No reason given.', note: ({ text }) => text },
    { key: 'appeal', on: 'terminal' },
    REVISION,
    { key: 'decided', kind: 'age', value: (row) => row.audit_time, sort: 'audit_time' },
    FIRST_SEEN,
  ],
  empty: 'No game is rejected.',
  document: (row) => ({ ...row, game: DECIDABLE.value(row) }),
  read: listRejectedGamePage,
});

export const withdrawnGameList = defineList({
  name: 'game.withdrawn',
  nouns: ['game', 'games'],
  right: 'view',
  row: gameNames.extend({
    audit_status: z.enum(AUDIT_STATUSES),
    unlisted_at: time.nullable(),
    withdrawn_at: time,
  }),
  filter: z.object({ application_id: theApplication() }),
  sorts: ['withdrawn_at'],
  order: '-withdrawn_at',
  columns: [
    { key: 'game_id', kind: 'id', on: 'terminal' },
    GAME_NAME,
    APPLICATION_GAME,
    { key: 'first missed', kind: 'time', value: (row) => row.unlisted_at, width: 'medium' },
    { key: 'withdrawn', kind: 'age', value: (row) => row.withdrawn_at, sort: 'withdrawn_at' },
    { key: 'audit_status', title: 'Was', kind: 'status', width: 'medium' },
  ],
  empty: 'No game is withdrawn.',
  read: listWithdrawnGamePage,
});
