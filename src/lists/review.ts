import { z } from 'zod';
import { listBatchPage } from '#db/queries/decisions.ts';
import {
  LANE_NAMES_COMPARED,
  LANE_SORTS,
  type LaneGame,
  listLanePage,
  placeInLane,
} from '#db/queries/lanes.ts';
import { gameNames, time } from '#src/contract/documents.ts';
import { AUDIT_STATUSES, DECISIONS, LANES } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import { APPLICATION, APPLICATION_GAME, DECIDABLE, GAME_NAME } from '#src/lists/columns.ts';
import { nextCursor } from '#src/lists/cursor.ts';
import { choice, ofApplication, search, theId } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';
import { type ReadPage, readList, type Sources } from '#src/lists/read.ts';

/** The games that wait for a decision, in one of the two lanes. */
export const laneList = defineList({
  name: 'review.list',
  nouns: ['game', 'games'],
  right: 'view',
  row: gameNames.extend({
    game: z.string().describe('As decisions on the command line name it.'),
    revision: z.int(),
    application_name: z.string(),
    since: time.describe('When the game entered the lane.'),
    due: time.describe('When it should be decided.'),
    decided_status: z.enum(DECISIONS).nullable(),
    decided_revision: z.int().nullable(),
  }),
  filter: z.object({
    lane: choice(LANES, {
      name: 'lane',
      title: 'Lane',
      description: 'new: games that were never decided (the default); changed: games that changed since',
    }),
    search: search('the name', 'Name'),
    application_id: ofApplication('only games of this application'),
  }),
  sorts: LANE_SORTS,
  order: 'due',
  read: (sql, { lane = 'new', ...filter }, page) => listLanePage(sql, { lane, ...filter }, page),
  columns: [
    DECIDABLE,
    { ...APPLICATION, key: 'application', on: 'terminal' },
    GAME_NAME,
    { ...APPLICATION_GAME, on: 'terminal' },
    { key: 'application_name', title: 'Application', on: 'page' },
    { key: 'waits', kind: 'age', value: (row) => row.since },
    { key: 'due', kind: 'age', sort: 'due' },
    { key: 'before', kind: 'status', value: (row) => row.decided_status },
  ],
  empty: 'Nothing waits in this lane.',
  noMatch: 'No game of this lane matches.',
  compared: LANE_NAMES_COMPARED,
  document: (row) => ({ ...row, game: DECIDABLE.value(row) }),
});

/** Decisions that were made together. */
export const batchList = defineList({
  name: 'review.batch',
  nouns: ['game', 'games'],
  right: 'view',
  row: z.object({
    audit_id: z.int(),
    game_id: z.guid(),
    game_name: z.string(),
    application_id: z.string(),
    revision: z.int(),
    audit_status: z.enum(DECISIONS),
    decided_by: z.string(),
    reason: z.string().nullable(),
    text: z.string().nullable(),
    note: z.string().nullable(),
    batch_id: z.guid(),
    carried_over_from: z.int().nullable(),
    appeal_id: z.int().nullable().describe('The appeal by which it overturned a rejection.'),
    waiting_since: time.nullable(),
    decided_at: time,
    undone_at: time.nullable(),
    undone_by: z.string().nullable(),
    game_status: z.enum(AUDIT_STATUSES).describe('The status of the game now.'),
    game_revision: z.int(),
  }),
  filter: z.object({
    batch_id: theId({
      name: 'batch',
      title: 'Batch',
      description: 'the batch of decisions',
      table: 'game_audits',
    }),
  }),
  sorts: ['game_id'],
  order: 'game_id',
  columns: [
    { key: 'game_id', kind: 'id', on: 'terminal' },
    { key: 'game_name', title: 'Game', link: ({ game_id }) => ({ to: 'game', id: game_id }) },
    { ...APPLICATION, width: 'medium' },
    {
      key: 'decision',
      kind: 'status',
      value: ({ undone_at, audit_status }) => (undone_at === null ? audit_status : 'undone'),
    },
    { key: 'revision', kind: 'number', width: 'wide' },
    { key: 'now', kind: 'status', value: (row) => row.game_status },
  ],
  empty: 'There is no batch of decisions with this id.',
  read: listBatchPage,
});

/** The cursor of the page of a lane that begins with the game after this one, even if this one has been decided. */
export const cursorAfter = (game: Parameters<typeof placeInLane>[0]): string =>
  nextCursor({ sort: 'due', descending: false }, placeInLane(game)) ?? '';

/** The games that follow a place in a lane. None follow a cursor that the lane did not make. */
export const readUpcoming = async (
  sources: Sources,
  filter: z.infer<typeof laneList.filter>,
  cursor: string | undefined,
  limit: number,
): Promise<Pick<ReadPage<LaneGame>, 'rows' | 'cursor'>> => {
  try {
    return await readList(laneList, sources, filter, { cursor, limit, uncounted: true });
  } catch (error) {
    if (error instanceof UsageError) return { rows: [], cursor: undefined };
    throw error;
  }
};
