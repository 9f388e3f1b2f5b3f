import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { applicationId } from '#db/schema/applications.ts';
import { areCounts, areShort, isOneOf, moment } from '#db/schema/columns.ts';
import type { Reason } from '#src/contract/text.ts';
import { OPERATIONS } from '#src/contract/words.ts';

/**
 * Failures of calls and list rows: field paths and codes, never a payload. A game's row is deleted when its detail is
 * written. `application_game_id` is "" for a list row without a usable id.
 */
export const ingestFailures = pgTable(
  'ingest_failures',
  {
    application_id: applicationId({ onDelete: 'cascade' }),
    operation: text({ enum: OPERATIONS }).notNull(),
    application_game_id: text().notNull(),
    /** A code of CallError, or `invalid_item` for one row of a list. */
    kind: text().notNull(),
    reasons: jsonb().$type<Reason[]>().notNull(),
    first_at: moment('first_at').notNull().defaultNow(),
    last_at: moment('last_at').notNull().defaultNow(),
    count: integer().notNull().default(1),
    /** Would a retry of the same call only repeat it? */
    final: boolean().notNull().default(false),
    /** Hash of the list entry whose detail failed; "" if unknown. */
    list_hash: text().notNull().default(''),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.operation, table.application_game_id] }),
    index('ingest_failures_last').on(table.last_at),
    isOneOf('ingest_failures_operation', table.operation, OPERATIONS),
    areCounts('ingest_failures_counts', table.count),
    areShort('ingest_failures_texts', [
      table.application_game_id,
      table.kind,
      table.reasons,
      table.list_hash,
    ]),
    check(
      'ingest_failures_reasons',
      sql`${table.reasons} = jsonb_path_query_array(${table.reasons},
        'strict $[*] ? (@.path.type() == "string" && @.code.type() == "string")', '{}', true)`,
    ),
  ],
);
