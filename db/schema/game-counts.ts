import { sql } from 'drizzle-orm';
import { bigint, check, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { AUDIT_STATUSES } from '#src/contract/words.ts';

/** The statuses, and the changed lane, whose games are pending, too. */
const COUNTED = [...AUDIT_STATUSES, 'changed'] as const;

/**
 * Number of games of an application in each audit_status, as a tree over `game_id`: it gives `data.total` and the first
 * row of any page (interface document, section 4.1). Withdrawn games are not counted. The counts of the changed lane give
 * the places in the new one.
 *
 * A UUID v7 starts with 48 bits of milliseconds. A row is a node: it counts the games of one time span, and of each of
 * the 128 parts of that span. A part is 398 days at level 0, then 3 days, 35 minutes, 16 seconds, and 128 milliseconds
 * at level 4. The tree of an application ends at level 3, because its games arrive more slowly than those of all
 * applications together. Only functions of db/migrations/0001_functions.sql write these rows; `place_of_game` reads at
 * most five of them for a page.
 */
export const gameCounts = pgTable(
  'game_counts',
  {
    /** "" for all applications together. */
    application_id: text().notNull(),
    audit_status: text({ enum: COUNTED }).notNull(),
    level: smallint().notNull(),
    /** The leading bits that all ids of the node share, 7 per level. */
    bucket: bigint({ mode: 'number' }).notNull(),
    games: bigint({ mode: 'number' }).notNull(),
    /** For each of the 128 parts, the games up to its end, so that a binary search finds the part of the n-th game. */
    upto: integer().array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.audit_status, table.level, table.bucket] }),
    check('game_counts_level', sql`${table.level} between 0 and 4`),
  ],
);

/**
 * Changes that are not folded into `game_counts` yet. Transactions that change games only insert rows here, so they
 * never wait for each other; readers add these rows.
 */
export const gameCountChanges = pgTable('game_count_changes', {
  application_id: text().notNull(),
  audit_status: text({ enum: COUNTED }).notNull(),
  /** Bucket of 128 milliseconds. */
  bucket: bigint({ mode: 'number' }).notNull(),
  games: bigint({ mode: 'number' }).notNull(),
});
