import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { SILENT_AFTER } from '#db/queries/workers.ts';
import type { WrappedTable } from '#db/queries/wrapped-keys.ts';
import { onlyRow } from '#db/rows.ts';
import type { AuditStatus, Operation } from '#src/contract/words.ts';

export type FleetFacts = {
  active: number;
  paused: number;
  /** Applications whose last scheduled run failed. */
  failing: number;
  /** Active applications without a successful run for more than three intervals. */
  overdue: number;
  open_runs: number;
  /** When the oldest open run started. */
  oldest_open_run: Date | null;
  live_workers: number;
};

/** Counts the fleet's applications, open runs and live workers. */
export const readFleetFacts = (sql: Queryable) =>
  onlyRow(sql<FleetFacts[]>`
    with a as (
      select count(*) filter (where status = 'active')::int as active,
             count(*) filter (where status = 'paused')::int as paused,
             count(*) filter (where failing_since is not null)::int as failing,
             count(*) filter (where status = 'active' and coalesce(last_success_at, created_at)
               < now() - 3 * every_ms * interval '1 millisecond')::int as overdue
      from applications where status <> 'removed'
    ), r as (
      select count(*)::int as open_runs, min(started_at) as oldest_open_run
      from sync_runs where finished_at is null
    ), w as (
      select count(*)::int as live_workers from workers where seen_at > now() - ${SILENT_AFTER}::interval
    )
    select * from a, r, w`);

export type LaggingApplication = Pick<ApplicationRow, 'application_id' | 'every_ms'> & {
  /** The last success of a run, whole or partial; the registration if there is none. */
  since: Date;
};

/** Lists the active applications by the number of intervals since their last success, the largest first. */
export const listLaggingApplications = (sql: Queryable, limit: number): Promise<LaggingApplication[]> =>
  sql<LaggingApplication[]>`
    select application_id, every_ms, coalesce(last_success_at, created_at) as since
    from applications where status = 'active'
    order by extract(epoch from now() - coalesce(last_success_at, created_at)) / every_ms desc
    limit ${limit}`;

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

export const countFailures = (sql: Queryable) =>
  sql<{ operation: Operation; kind: string; count: number }[]>`
    select operation, kind, count(*)::int as count from ingest_failures group by operation, kind`;

export const countGamesByStatus = (sql: Queryable) =>
  sql<{ audit_status: AuditStatus; count: number }[]>`
    select audit_status, sum(games)::float8 as count from game_totals('') group by audit_status`;

/** Counts the addresses that events are sent to. */
export const countEventWebhooks = (sql: Queryable) =>
  onlyRow(sql<{ active: number; off: number }[]>`
    select count(*) filter (where status = 'active')::int as active,
           count(*) filter (where status = 'off')::int as off
    from event_webhooks`);

export type SealedCount = { table: WrappedTable; key_id: string; count: number };

/** Counts the data keys that each key-encryption key wraps. A key with 0 can be removed. */
export const countWrapsByKey = (sql: Queryable): Promise<SealedCount[]> =>
  sql<SealedCount[]>`select table_name as table, key_id, wraps as count from count_wraps()`;
