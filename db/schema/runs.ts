import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { applications } from '#db/schema/applications.ts';
import { moment } from '#db/schema/columns.ts';
import { LISTING_ENDS, RUN_OUTCOMES, RUN_TRIGGERS } from '#src/contract/words.ts';

/** What a page or a run counted. Every listed game is counted under exactly one of the others. */
const counters = () => ({
  listed: integer().notNull().default(0),
  inserted: integer().notNull().default(0),
  updated: integer().notNull().default(0),
  unchanged: integer().notNull().default(0),
  invalid: integer().notNull().default(0),
  failed: integer().notNull().default(0),
  missing: integer().notNull().default(0),
});

/** One pass over one application's games: the source of truth of its progress, not the queue. */
export const syncRuns = pgTable(
  'sync_runs',
  {
    run_id: uuid().primaryKey(),
    application_id: text()
      .notNull()
      .references(() => applications.application_id, { onDelete: 'cascade' }),
    trigger: text({ enum: RUN_TRIGGERS }).notNull(),
    /** Ask for every detail, changed or not. */
    full: boolean().notNull().default(false),
    /** An operator accepts that this run may withdraw more than half of the games. */
    accept_withdrawals: boolean().notNull().default(false),
    /** Null while open. */
    outcome: text({ enum: RUN_OUTCOMES }),
    /** Why the run did not succeed, in words for its reader. */
    reason: text(),
    /** What was odd but changed nothing: a total that does not agree with the pages (decision 18). */
    note: text(),
    /** Grows when the run is taken up again: a job that carries an older one writes nothing. */
    fence: integer().notNull().default(1),
    /** The page to ask for next; pages before it are recorded. */
    next_page: integer().notNull().default(1),
    /** Set when the listing came to its end. */
    listing_end: text({ enum: LISTING_ENDS }),
    /** Rows on the recorded pages, and the most on one of them. */
    row_count: integer().notNull().default(0),
    largest_page: integer().notNull().default(0),
    /** `data.total` of the first and of the latest page, and the largest (decision 18: noted, not trusted). */
    total_first: bigint({ mode: 'number' }),
    total_last: bigint({ mode: 'number' }),
    total_max: bigint({ mode: 'number' }),
    ...counters(),
    withdrawn: integer().notNull().default(0),
    started_at: moment('started_at').notNull().defaultNow(),
    progress_at: moment('progress_at').notNull().defaultNow(),
    finished_at: moment('finished_at'),
  },
  (table) => [
    uniqueIndex('sync_runs_one_open').on(table.application_id).where(sql`${table.finished_at} is null`),
    index('sync_runs_by_application').on(table.application_id, table.run_id),
    index('sync_runs_by_finish').on(table.finished_at),
    check('sync_runs_closed', sql`(${table.finished_at} is null) = (${table.outcome} is null)`),
  ],
);

/** One page of one run: which games it named, which of their details are still to come, what was counted. */
export const syncRunPages = pgTable(
  'sync_run_pages',
  {
    run_id: uuid()
      .notNull()
      .references(() => syncRuns.run_id, { onDelete: 'cascade' }),
    page_num: integer().notNull(),
    /** Rows on the page as it came. */
    row_count: integer().notNull(),
    total: bigint({ mode: 'number' }).notNull(),
    /** The games this page named first in its run. */
    application_game_ids: text().array().notNull(),
    /** Rows that named no game: no usable `game_id`. */
    unnamed: integer().notNull().default(0),
    /** Games whose detail is wanted and not settled yet, each with the hash of its list entry. */
    open_games: jsonb().$type<Record<string, string>>().notNull(),
    /** Detail calls that were answered, whatever the answer: none at all means the application is away. */
    answered: integer().notNull().default(0),
    ...counters(),
    listed_at: moment('listed_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.run_id, table.page_num] }),
    index('sync_run_pages_open')
      .on(table.run_id, table.page_num)
      .where(sql`${table.open_games} <> '{}'::jsonb`),
  ],
);
