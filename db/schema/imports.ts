import { sql } from 'drizzle-orm';
import { check, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { applicationId } from '#db/schema/applications.ts';
import { isOneOf, moment } from '#db/schema/columns.ts';
import { reasons } from '#db/schema/review.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';

/**
 * Games that were imported without content. Their id and their decision wait for the first pull, whose content becomes the
 * decided revision. The trigger `game_revisions_waiting` applies the row and deletes it.
 */
export const importedGames = pgTable(
  'imported_games',
  {
    application_id: applicationId(),
    application_game_id: text().notNull(),
    game_id: uuid().notNull().unique(),
    game_package_url: text().notNull(),
    audit_status: text({ enum: AUDIT_STATUSES }).notNull(),
    audit_time: moment('audit_time'),
    decided_by: text(),
    reason: text().references(() => reasons.code),
    text: text(),
  },
  (table) => [
    primaryKey({ columns: [table.application_id, table.application_game_id] }),
    isOneOf('imported_games_audit_status', table.audit_status, AUDIT_STATUSES),
    check(
      'imported_games_decided',
      sql`(${table.audit_status} = 'pending') = (${table.audit_time} is null)
        and (${table.audit_status} = 'pending') = (${table.decided_by} is null)`,
    ),
  ],
);
