import { z } from 'zod';
import {
  FAILURE_SORTS,
  FAILURE_SOURCES,
  GROUP_SORTS,
  listFailureGroupPage,
  listFailurePage,
} from '#db/queries/failure-list.ts';
import { count, time } from '#src/contract/documents.ts';
import { formatReasons } from '#src/contract/format-reasons.ts';
import { NO_GAME, OPERATIONS, RUN_OUTCOMES } from '#src/contract/words.ts';
import { APPLICATION, countColumn } from '#src/lists/columns.ts';
import { choice, LAST_OUTCOME, onlyApplication, search, since } from '#src/lists/filters.ts';
import { column, defineList, type Link } from '#src/lists/list.ts';

type Failed = {
  application_id: string;
  operation: string;
  kind: string;
  reasons: Parameters<typeof formatReasons>[0];
};

/** What failed and why. Pages say it in words, in one column. */
const WHAT = [
  column<Failed>({ key: 'operation', kind: 'id', on: 'terminal' }),
  column<Failed>({ key: 'kind', kind: 'id', on: 'terminal' }),
  column<Failed>({ key: 'reasons', title: 'What to fix', value: ({ reasons }) => formatReasons(reasons) }),
];

const FAILURE = z.object({
  application_id: z.string(),
  operation: z.enum(OPERATIONS),
  kind: z.string(),
  reasons: z.array(z.object({ code: z.string(), path: z.string(), page: z.int().optional() })),
  first_at: time,
  last_at: time,
});

const toGame = (application_id: string, application_game_id: string): Link | null =>
  application_game_id === NO_GAME ? null : { to: 'application_game', application_id, application_game_id };

export const failureList = defineList({
  name: 'failure.list',
  nouns: ['failure', 'failures'],
  right: 'view',
  row: FAILURE.extend({ application_game_id: z.string(), count }),
  filter: z.object({
    application_id: onlyApplication(),
    source: choice(FAILURE_SOURCES, {
      name: 'source',
      title: 'Source',
      description: 'only failures of calls and their rows, or only of the latest runs',
    }),
    outcome: choice(RUN_OUTCOMES, LAST_OUTCOME),
    search: search('game, kind or reason'),
    since: since(),
  }),
  sorts: FAILURE_SORTS,
  order: '-last_at',
  columns: [
    APPLICATION,
    {
      key: 'game',
      kind: 'id',
      value: (row) => row.application_game_id,
      link: ({ application_id, application_game_id }) => toGame(application_id, application_game_id),
    },
    ...WHAT,
    { ...countColumn('count', 'Times'), sort: 'count', width: 'medium' },
    { key: 'first', kind: 'age', value: (row) => row.first_at, sort: 'first_at', on: 'none' },
    { key: 'last', kind: 'age', value: (row) => row.last_at, sort: 'last_at', width: 'medium' },
  ],
  empty: 'No open failures.',
  noMatch: 'No open failure matches.',
  read: listFailurePage,
});

export const failureGroupList = defineList({
  name: 'failure.groups',
  nouns: ['problem', 'problems'],
  right: 'view',
  row: FAILURE.extend({ application_name: z.string(), games: count, example: z.string() }),
  filter: z.object({ application_id: onlyApplication() }),
  sorts: GROUP_SORTS,
  order: '-games',
  columns: [
    { ...APPLICATION, label: ({ application_name }) => application_name },
    ...WHAT,
    {
      key: 'extent',
      value: ({ games }) => (games === 1 ? '1 game' : `${games} games`),
      width: 'narrow',
      on: 'page',
    },
    {
      key: 'example',
      title: 'For example',
      kind: 'id',
      link: ({ application_id, example }) => toGame(application_id, example),
    },
    { ...countColumn('games'), sort: 'games' },
    { key: 'first', kind: 'age', value: (row) => row.first_at, sort: 'first_at', width: 'wider' },
    { key: 'last', kind: 'age', value: (row) => row.last_at, sort: 'last_at', width: 'medium' },
  ],
  empty: 'Every listed game was stored.',
  read: listFailureGroupPage,
});
