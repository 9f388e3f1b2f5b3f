import { sql } from 'drizzle-orm';
import { bigint, check, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { AUDIT_STATUSES } from '#src/contract/words.ts';

/**
 * How many games an application has in each audit_status, as a tree over `game_id`: what `data.total` and any
 * `page_num` are answered from (interface document, section 4.1). Withdrawn games are not counted.
 *
 * A UUID v7 begins with 48 bits of milliseconds. A row is a node: the games of one span of time, and of each of the
 * 128 spans it is made of. `level` 0 is the whole, in parts of 398 days; those of level 1 are of three days, then 35
 * minutes, 16 seconds, 128 milliseconds. An application's games come in slower than everybody's together: its tree
 * ends at level 3. So a page is found in five rows. Written only by the functions of db/migrations/0004_game_count_functions.sql.
 */
export const gameCounts = pgTable(
  'game_counts',
  {
    /** "" for all applications together. */
    application_id: text().notNull(),
    audit_status: text({ enum: AUDIT_STATUSES }).notNull(),
    level: smallint().notNull(),
    /** The leading bits that the node's ids share, 7 a level: nodes follow the order of the ids. */
    bucket: bigint({ mode: 'number' }).notNull(),
    games: bigint({ mode: 'number' }).notNull(),
    /** For each of the 128 parts, the games up to its end: the part of the n-th game is found by bisection. */
    upto: integer().array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.audit_status, table.level, table.bucket] }),
    check('game_counts_level', sql`${table.level} between 0 and 4`),
  ],
);

/**
 * Changes not yet folded into `game_counts`, written by the transactions that change games. They are only ever
 * added, so that two transactions never wait for each other over a counter; whoever reads adds them up.
 */
export const gameCountChanges = pgTable('game_count_changes', {
  application_id: text().notNull(),
  audit_status: text({ enum: AUDIT_STATUSES }).notNull(),
  /** Of 128 milliseconds. */
  bucket: bigint({ mode: 'number' }).notNull(),
  games: bigint({ mode: 'number' }).notNull(),
});
