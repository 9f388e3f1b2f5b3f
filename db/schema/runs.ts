import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { applicationId } from '#db/schema/applications.ts';
import { areCounts, areLists, areNumbers, areShort, isOneOf, moment } from '#db/schema/columns.ts';
import { LIST_ROWS_MAX } from '#src/contract/application.ts';
import {
  LISTING_ENDS,
  PAGE_KINDS,
  RUN_COUNTERS,
  RUN_FAULTS,
  RUN_OUTCOMES,
  RUN_TRIGGERS,
  type RunCounts,
} from '#src/contract/words.ts';

/** Counters of a page or a run. A listed game counts under exactly one of the others. */
const counters = () => ({
  inserted: integer().notNull().default(0),
  updated: integer().notNull().default(0),
  invalid: integer().notNull().default(0),
  failed: integer().notNull().default(0),
  missing: integer().notNull().default(0),
  listed: integer().notNull().default(0),
  unchanged: integer().notNull().default(0),
});

const sum = () => bigint({ mode: 'number' }).notNull();
const sums = () =>
  Object.fromEntries(RUN_COUNTERS.map((name) => [name, sum()])) as Record<
    keyof RunCounts,
    ReturnType<typeof sum>
  >;

const countersOf = (table: Record<keyof RunCounts, AnyPgColumn>): AnyPgColumn[] =>
  RUN_COUNTERS.map((name) => table[name]);

/**
 * One pass over one application's games. This row, not the queue, is the source of truth of its progress. Columns that change
 * more often stand later, because for an update Postgres logs the bytes from the first to the last that changed.
 */
export const syncRuns = pgTable(
  'sync_runs',
  {
    run_id: uuid().primaryKey(),
    /** The order in which runs were opened, from 1. Ids and times come from clocks, which may be wrong. */
    run_number: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    application_id: applicationId({ onDelete: 'cascade' }),
    trigger: text({ enum: RUN_TRIGGERS }).notNull(),
    /** Fetch every detail, changed or not. */
    full: boolean().notNull().default(false),
    /** An operator accepts that this run may withdraw more than half of the games. */
    accept_withdrawals: boolean().notNull().default(false),
    started_at: moment('started_at').notNull().defaultNow(),
    /** Raised when the run is recovered, so that a job with an older fence writes nothing. */
    fence: integer().notNull().default(1),
    /** Bytes of content that it wrote. */
    stored_bytes: bigint({ mode: 'number' }).notNull().default(0),
    /** Bytes of content that it may write: the rest of its application's budget of 24 hours (null: no limit). */
    storable_bytes: bigint({ mode: 'number' }),
    /** New games that it may still insert (null: no limit). */
    storable_games: integer(),
    withdrawn: integer().notNull().default(0),
    ...counters(),
    /** Null while open. */
    outcome: text({ enum: RUN_OUTCOMES }),
    /** Null unless the run failed. */
    fault: text({ enum: RUN_FAULTS }),
    /** Why the run did not succeed, for an operator. */
    reason: text(),
    /** Observations without effect, such as a wrong total. */
    note: text(),
    finished_at: moment('finished_at'),
    /** Null until the listing ends. */
    listing_end: text({ enum: LISTING_ENDS }),
    /** `data.total` of the first and the latest page, and the largest. */
    total_first: bigint({ mode: 'number' }),
    total_last: bigint({ mode: 'number' }),
    total_max: bigint({ mode: 'number' }),
    /** Most rows on one recorded page, and rows on all of them. */
    largest_page: integer().notNull().default(0),
    row_count: integer().notNull().default(0),
    /** Pages before this one are recorded. */
    next_page: integer().notNull().default(1),
    /** Bytes of the ids that its listing named. */
    listed_bytes: bigint({ mode: 'number' }).notNull().default(0),
    progress_at: moment('progress_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('sync_runs_one_open').on(table.application_id).where(sql`${table.finished_at} is null`),
    uniqueIndex('sync_runs_by_number').on(table.run_number),
    index('sync_runs_by_application').on(table.application_id, table.run_number),
    index('sync_runs_by_finish').on(table.finished_at).where(sql`${table.finished_at} is not null`),
    // Runs that stored something, for the budget of a day. Most store nothing.
    index('sync_runs_stored')
      .on(table.application_id, table.started_at)
      .where(sql`${table.stored_bytes} > 0`),
    // Runs that did not succeed are few, and operators list them.
    index('sync_runs_by_outcome')
      .on(table.outcome, table.run_number)
      .where(sql`${table.outcome} <> 'succeeded'`),
    check('sync_runs_closed', sql`(${table.finished_at} is null) = (${table.outcome} is null)`),
    areShort('sync_runs_texts', [table.reason, table.note]),
    isOneOf('sync_runs_trigger', table.trigger, RUN_TRIGGERS),
    isOneOf('sync_runs_outcome', table.outcome, RUN_OUTCOMES),
    isOneOf('sync_runs_fault', table.fault, RUN_FAULTS),
    isOneOf('sync_runs_listing_end', table.listing_end, LISTING_ENDS),
    areCounts(
      'sync_runs_counts',
      table.run_number,
      table.fence,
      table.stored_bytes,
      ...countersOf(table),
      table.largest_page,
      table.row_count,
      table.next_page,
      table.listed_bytes,
    ),
    areNumbers(
      'sync_runs_numbers',
      table.storable_bytes,
      table.storable_games,
      table.total_first,
      table.total_last,
      table.total_max,
    ),
  ],
);

/** Sums of the runs that were deleted, by the day they finished (UTC). */
export const runDays = pgTable(
  'run_days',
  {
    application_id: applicationId({ onDelete: 'cascade' }),
    day: date().notNull(),
    outcome: text({ enum: RUN_OUTCOMES }).notNull(),
    runs: integer().notNull(),
    ...sums(),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.day, table.outcome] }),
    // Days are written nearly in order, so a few kilobytes find the oldest.
    index('run_days_by_day').using('brin', table.day),
    isOneOf('run_days_outcome', table.outcome, RUN_OUTCOMES),
    areCounts('run_days_counts', table.runs, ...countersOf(table)),
    check('run_days_day', sql`${table.day} between '2000-01-01' and '9999-12-31'`),
  ],
);

/** Twice what the longest ids of a page take. */
const PAGE_BYTES = 4_000_000;

/**
 * One page of one run: the games that it named, the details that it waits for, its counters. It has no foreign key, because
 * each transaction that adds pages would lock the run's row once more, which is logged.
 */
export const syncRunPages = pgTable(
  'sync_run_pages',
  {
    run_id: uuid().notNull(),
    page_num: integer().notNull(),
    kind: text({ enum: PAGE_KINDS }).notNull().default('listed'),
    /** Why the page could not be read; null for the other kinds. */
    reason: text(),
    /** Rows in the response. */
    row_count: integer().notNull(),
    total: bigint({ mode: 'number' }).notNull(),
    /** Games that no earlier page of the run named. */
    application_game_ids: text().array().notNull(),
    /** Rows without a usable `game_id`. */
    unnamed: integer().notNull().default(0),
    /** Games that wait for their detail, with the hash of their list entry. */
    open_games: jsonb().$type<Record<string, string>>().notNull(),
    /** Detail calls that were answered, validly or not: see src/rules/down.ts. */
    answered: integer().notNull().default(0),
    ...counters(),
    /** Games of an `unlisted` page that their application confirmed as gone. */
    withdrawn: integer().notNull().default(0),
    listed_at: moment('listed_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.run_id, table.page_num] }),
    index('sync_run_pages_open')
      .on(table.run_id, table.page_num)
      .where(sql`${table.open_games} <> '{}'::jsonb`),
    areShort('sync_run_pages_texts', [table.reason]),
    areShort('sync_run_pages_sizes', [table.application_game_ids, table.open_games], PAGE_BYTES),
    isOneOf('sync_run_pages_kind', table.kind, PAGE_KINDS),
    areCounts(
      'sync_run_pages_counts',
      table.page_num,
      table.row_count,
      table.unnamed,
      table.answered,
      ...countersOf(table),
    ),
    areNumbers('sync_run_pages_numbers', table.total),
    areLists('sync_run_pages_ids', [table.application_game_ids], LIST_ROWS_MAX),
    check(
      'sync_run_pages_open_games',
      sql`jsonb_typeof(${table.open_games}) = 'object'
        and not jsonb_path_exists(${table.open_games}, 'strict $.* ? (@.type() != "string")', '{}', true)`,
    ),
  ],
);
