import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/**
 * Counts our connections to this database by process (`worker`, `api`, … `queue`) and state. A role sees the state of
 * its own connections only.
 */
export const countConnections = (sql: Queryable) =>
  sql<{ holder: string; state: string; count: number }[]>`
    select substr(application_name, 11) as holder,
           coalesce(state, case when usename = current_user then 'starting' else 'unknown' end) as state,
           count(*)::int as count
    from pg_stat_activity
    where datname = current_database() and application_name like 'catalogue %'
    group by 1, 2`;

/** For how many seconds sessions of each login have blocked another session. Logins that block none are absent. */
export const readBlocking = (sql: Queryable) =>
  sql<{ blocker: string; seconds: number }[]>`
    select login as blocker, max(blocks_s) as seconds from process_sessions() where blocks_s > 0 group by 1`;

/** Ends sessions of processes that keep a transaction, a lock or a statement for too long. @returns how many */
export const endOverdueSessions = (sql: Queryable): Promise<number> =>
  onlyValue(sql<{ ended: number }[]>`select end_overdue_sessions() as ended`);
