import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { moment } from '#db/schema/columns.ts';

/** The worker processes that said they live: how the command line knows whether anybody will do the work. */
export const workers = pgTable(
  'workers',
  {
    worker_id: uuid().primaryKey(),
    host: text().notNull(),
    pid: integer().notNull(),
    started_at: moment('started_at').notNull().defaultNow(),
    seen_at: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [index('workers_seen').on(table.seen_at)],
);
