import { sql } from 'drizzle-orm';
import { bigint, check, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { AUDIT_STATUSES } from './games.ts';

/**
 * How many games an application has in each audit_status, as a tree over `game_id`: what `data.total` and any
 * `page_num` are answered from (interface document, section 4.1). Withdrawn games are not counted.
 *
 * A UUID v7 begins with 48 bits of milliseconds; `bucket` is the leading bits of the ids it holds, so buckets
 * follow the order of the ids. `level` 0 is the whole; 1 to 5 are buckets of 14, 20, 26, 32 and 38 bits (198
 * days, 3 days, 70 minutes, 66 seconds, one second), each with at most 64 below it. An application's games come
 * in slower than everybody's together: its tree ends at level 4. Written only by the functions of
 * db/triggers/game-counts.sql.
 */
export const gameCounts = pgTable(
  'game_counts',
  {
    /** "" for all applications together. */
    application_id: text().notNull(),
    audit_status: text({ enum: AUDIT_STATUSES }).notNull(),
    level: smallint().notNull(),
    bucket: bigint({ mode: 'number' }).notNull(),
    games: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.audit_status, table.level, table.bucket] }),
    check('game_counts_level', sql`${table.level} between 0 and 5`),
  ],
);

/**
 * Changes not yet folded into `game_counts`, written by the transactions that change games. They are only ever
 * added, so that two transactions never wait for each other over a counter; whoever reads adds them up.
 */
export const gameCountChanges = pgTable('game_count_changes', {
  application_id: text().notNull(),
  audit_status: text({ enum: AUDIT_STATUSES }).notNull(),
  /** Of level 5. */
  bucket: bigint({ mode: 'number' }).notNull(),
  games: bigint({ mode: 'number' }).notNull(),
});
