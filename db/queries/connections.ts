import type { Queryable } from '#db/client.ts';

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
