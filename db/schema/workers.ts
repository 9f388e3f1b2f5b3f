import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { areCounts, areShort, moment } from '#db/schema/columns.ts';

/** Heartbeats of worker processes, by which the command line warns when no worker runs, or if they take jobs from different queues. */
export const workers = pgTable(
  'workers',
  {
    worker_id: uuid().primaryKey(),
    host: text().notNull(),
    pid: integer().notNull(),
    /** Where it takes jobs: `Redis QUEUE_PREFIX` with an id that its Redis keeps, or `Postgres`. */
    queue: text().notNull(),
    started_at: moment('started_at').notNull().defaultNow(),
    seen_at: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [
    index('workers_seen').on(table.seen_at),
    areCounts('workers_counts', table.pid),
    areShort('workers_texts', [table.host, table.queue]),
  ],
);
