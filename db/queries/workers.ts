import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { countRows, onlyValue, readColumn } from '#db/rows.ts';
import type { workers } from '#db/schema/workers.ts';

export type WorkerRow = InferSelectModel<typeof workers>;

/** A worker without a heartbeat for this time is not live; heartbeats are 10 s apart. */
const SILENT_AFTER = '30 seconds';

/** Records that this worker runs. */
export const recordHeartbeat = async (
  sql: Queryable,
  worker: Pick<WorkerRow, 'worker_id' | 'host' | 'pid' | 'queue'>,
): Promise<void> => {
  await sql`
    insert into workers ${sql(worker)}
    on conflict (worker_id) do update set seen_at = now(), queue = excluded.queue`;
};

/** More queues than a fleet has. A stolen worker may write rows that each name another one. */
const QUEUES_MAX = 10;

/** Lists the queues from which live workers take jobs: more than one if their settings differ. */
export const listWorkerQueues = (sql: Queryable): Promise<string[]> =>
  readColumn(sql<{ queue: string }[]>`
    select distinct left(queue, 300) as queue from workers where seen_at > now() - ${SILENT_AFTER}::interval
    order by queue limit ${QUEUES_MAX}`);

/** Reads what tells this database from its copies: a dump that is restored gets another one, a replica has the same. */
export const readDatabaseIdentity = (sql: Queryable): Promise<string> =>
  onlyValue(sql<{ identity: string }[]>`
    select system_identifier || '/' || oid as identity
    from pg_control_system(), pg_database where datname = current_database()`);

export const deleteWorker = async (sql: Queryable, worker_id: string): Promise<void> => {
  await sql`delete from workers where worker_id = ${worker_id}`;
};

/** Reads one page of the live workers. */
export const listWorkerPage = (sql: Queryable, page: ListPage<'started_at'>) =>
  readListPage<WorkerRow>(sql, page, {
    columns: sql`*`,
    from: sql`workers where seen_at > now() - ${SILENT_AFTER}::interval`,
    sort_by: sql`started_at`,
    id: sql`worker_id`,
  });

/** Counts the live workers. */
export const countLiveWorkers = (sql: Queryable): Promise<number> =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from workers where seen_at > now() - ${SILENT_AFTER}::interval`);

/** Does a process take jobs? A media process records no heartbeat; it has sessions of this name. */
export const areJobsTaken = (sql: Queryable): Promise<boolean> =>
  onlyValue(sql<{ taken: boolean }[]>`
    select exists (select from workers where seen_at > now() - ${SILENT_AFTER}::interval)
      or exists (
        select from pg_stat_activity
        where datname = current_database() and application_name = 'catalogue media') as taken`);

/** Is a worker live, and an application active that has not changed for two minutes? Its ticks are then in the queue. */
export const areTicksDue = (sql: Queryable): Promise<boolean> =>
  onlyValue(sql<{ due: boolean }[]>`
    select exists (select from workers where seen_at > now() - ${SILENT_AFTER}::interval)
      and exists (
        select from applications where status = 'active' and updated_at < now() - interval '2 minutes') as due`);

/** Deletes the rows of workers that were killed: those whose last heartbeat is an hour old. */
export const deleteSilentWorkers = async (sql: Queryable): Promise<void> => {
  await sql`delete from workers where seen_at < now() - interval '1 hour'`;
};

/**
 * Ends our own sessions in which Postgres has waited for the rest of a statement for more than `silentMs`, because their
 * process was stopped between two messages, and they may lock the rows of a run. No timeout of Postgres before 17 ends
 * them, because idle_in_transaction_session_timeout counts them as active.
 * @returns the number of ended sessions
 */
export const endSilentSessions = (sql: Queryable, silentMs: number) =>
  countRows(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name like 'catalogue%'
      and state = 'active' and wait_event = 'ClientRead'
      and state_change < now() - ${silentMs} * interval '1 millisecond'`);
