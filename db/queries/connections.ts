import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/** The processes and parts that name their connections. Any session may name itself, so no other name becomes a series. */
const HOLDERS =
  '^catalogue (worker|api|operator-api|console|media|kyc-desk|metrics|queue|migrate|cli|start)( |$)';

/**
 * Counts our connections to this database by process (`worker`, `api`, … `queue`, `other`) and state. A role sees the state
 * of its own connections only.
 */
export const countConnections = (sql: Queryable) =>
  sql<{ holder: string; state: string; count: number }[]>`
    select coalesce(substring(application_name from ${HOLDERS}), 'other') as holder,
           coalesce(state, case when usename = current_user then 'starting' else 'unknown' end) as state,
           count(*)::int as count
    from pg_stat_activity
    where datname = current_database() and application_name like 'catalogue %'
    group by 1, 2`;

/** Reads for how many seconds sessions of each login have blocked another session. Logins that block none are absent. */
export const readBlocking = (sql: Queryable) =>
  sql<{ blocker: string; seconds: number }[]>`
    select login as blocker, max(blocks_s) as seconds from process_sessions() where blocks_s > 0 group by 1`;

/**
 * A session that others wait for. A prepared transaction has no process, login or program.
 * `lacks_standby`: it waits for a synchronous standby before it commits.
 */
export type Blocker = { pid: number | null; login: string; program: string; lacks_standby: boolean };

/**
 * Finds the sessions that block sessions of these names: those at the head of each chain of locks, which wait for no lock.
 * A session of these names that waits for a standby heads its own chain. Every login may read this.
 * @param names the `application_name` of the sessions that wait
 */
export const readBlockers = (sql: Queryable, names: readonly string[]) =>
  sql<Blocker[]>`
    with recursive own as (
      select pid, wait_event from pg_stat_activity
      where datname = current_database() and usename = current_user and application_name = any(${names})
    ), blockers as (
      select unnest(pg_blocking_pids(pid)) as pid from own
      union
      select unnest(pg_blocking_pids(pid)) from blockers
    )
    select nullif(pid, 0) as pid, coalesce(usename, '') as login, coalesce(application_name, '') as program,
           wait_event is not distinct from 'SyncRep' as lacks_standby
    from (select pid from blockers union select pid from own where wait_event = 'SyncRep') waited_for
      left join pg_stat_activity using (pid)
    where pid not in (select pid from pg_locks where not granted)`;

/** Ends sessions of processes that keep a transaction, a lock or a statement for too long. @returns how many */
export const endOverdueSessions = (sql: Queryable): Promise<number> =>
  onlyValue(sql<{ ended: number }[]>`select end_overdue_sessions() as ended`);
