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
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { apiTokens } from '#db/schema/api-tokens.ts';
import { applicationId } from '#db/schema/applications.ts';
import { areCounts, areInKeys, areShort, areTimes, bytea, moment } from '#db/schema/columns.ts';

// What was requested and is not done yet. A row is deleted in the transaction that writes the result, because the queue may
// be lost.

/** Games to be pulled, each once: applications have changed them (`game/refresh`), or operators want them (`pull`). */
export const refreshRequests = pgTable(
  'refresh_requests',
  {
    // A reference, because each round reads the applications that have requests, and a stolen login could add unknown ones.
    application_id: applicationId({ onDelete: 'cascade' }),
    /** The application's id of a stored game; "" is its whole list. */
    application_game_id: text().notNull(),
    /** For the whole list: pulls every detail, not only those of new and changed entries. */
    is_full: boolean().notNull().default(false),
    requested_at: moment('requested_at').notNull().defaultNow(),
    /** Operators' requests come first, also of a paused application, and beyond its budget. */
    by_operator: boolean().notNull().default(false),
    /** Calls that failed in a way that may pass. A turn without a final result counts for each of its games. */
    attempts: smallint().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.application_game_id] }),
    index('refresh_requests_by_operator').on(table.application_id).where(sql`${table.by_operator}`),
    areCounts('refresh_requests_counts', table.attempts),
    areInKeys('refresh_requests_keys', table.application_game_id),
    areTimes('refresh_requests_times', table.requested_at),
  ],
);

/** When the next requested games of an application may be pulled, and what they may store. */
export const refreshTurns = pgTable(
  'refresh_turns',
  {
    application_id: text().primaryKey(),
    next_at: moment('next_at').notNull(),
    /** Turns in a row in which no call had a final result. Each doubles the wait. */
    idle_turns: smallint().notNull().default(0),
    /** Content that pulls outside runs have stored since `day_started_at`, at most 24 hours ago. */
    stored_bytes: bigint({ mode: 'number' }).notNull().default(0),
    day_started_at: moment('day_started_at').notNull().defaultNow(),
  },
  (table) => [areCounts('refresh_turns_counts', table.idle_turns, table.stored_bytes)],
);

/**
 * Until when the detail calls of an application are taken by the jobs that have reserved them. Unlogged, because a crash of
 * Postgres may lose it; then the calls of at most one turn follow too soon.
 */
export const detailTurns = pgTable(
  'detail_turns',
  {
    application_id: text().primaryKey(),
    ends_at: moment('ends_at').notNull(),
  },
  (table) => [areTimes('detail_turns_times', table.ends_at)],
);

/** `app check`, run by a worker for a page, with its report. */
export const applicationChecks = pgTable(
  'application_checks',
  {
    check_id: uuid().primaryKey(),
    application_id: applicationId(),
    requested_by: text().notNull(),
    requested_at: moment('requested_at').notNull().defaultNow(),
    /** Null while it runs. */
    finished_at: moment('finished_at'),
    passed: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    skipped: integer().notNull().default(0),
    /** The result of each case, as `app check --json` prints it: KYC values are masked, the token is left out. */
    cases: jsonb().$type<unknown[]>().notNull().default([]),
    /** Why there is no report. */
    error: text(),
  },
  (table) => [
    uniqueIndex('application_checks_open').on(table.application_id).where(sql`finished_at is null`),
    index('application_checks_latest').on(table.application_id, table.requested_at),
    areCounts('application_checks_counts', table.passed, table.failed, table.skipped),
    areShort('application_checks_texts', [table.requested_by, table.error]),
    areShort('application_checks_report', [table.cases], 1_000_000),
    check(
      'application_checks_cases',
      sql`${table.cases} = jsonb_path_query_array(${table.cases}, 'strict $[*] ? (@.name.type() == "string"
          && @.rule.type() == "string" && @.outcome.type() == "string")', '{}', true)
        and not jsonb_path_exists(${table.cases}, 'strict $[*].* ? (@.type() == "object" || @.type() == "array")', '{}', true)`,
    ),
  ],
);

/** Who is signed in at the portal: the holder of an API token, for the application of that token alone. */
export const portalSessions = pgTable(
  'portal_sessions',
  {
    session_hash: bytea().primaryKey(),
    token_id: uuid()
      .notNull()
      .references(() => apiTokens.token_id, { onDelete: 'cascade' }),
    started_at: moment('started_at').notNull().defaultNow(),
    seen_at: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [index('portal_sessions_token').on(table.token_id)],
);
