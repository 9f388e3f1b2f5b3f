import type { Database } from '#db/client.ts';
import { until } from '#test/support/until.ts';

/** Counts the sessions of this database that wait for a lock. Not in a transaction, which sees the activity of its start. */
export const countBlocked = async (sql: Database): Promise<number> =>
  (
    await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  ).count;

/** Waits until at least this many sessions of this database wait for a lock. */
export const untilBlocked = (sql: Database, sessions = 1): Promise<true> =>
  until(`${sessions} sessions wait for a lock`, async () => (await countBlocked(sql)) >= sessions && true);
