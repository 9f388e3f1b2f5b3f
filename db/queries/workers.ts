import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { workers } from '#db/schema/workers.ts';

export type WorkerRow = InferSelectModel<typeof workers>;

/** A worker says every ten seconds that it lives (its canary does); silent for thirty, it is taken for gone. */
const SILENT_AFTER = '30 seconds';

/** Say that this worker lives. */
export const recordHeartbeat = async (
  sql: Queryable,
  worker: { worker_id: string; host: string; pid: number },
): Promise<void> => {
  await sql`
    insert into workers ${sql(worker)}
    on conflict (worker_id) do update set seen_at = now()`;
};

export const deleteWorker = async (sql: Queryable, worker_id: string): Promise<void> => {
  await sql`delete from workers where worker_id = ${worker_id}`;
};

export const listLiveWorkers = (sql: Queryable): Promise<WorkerRow[]> =>
  sql<WorkerRow[]>`
    select * from workers where seen_at > now() - ${SILENT_AFTER}::interval order by started_at`;

/** Workers that were killed: silent for so long that none of them is merely slow. */
export const listSilentWorkers = (sql: Queryable): Promise<WorkerRow[]> =>
  sql<
    WorkerRow[]
  >`select * from workers where seen_at < now() - interval '1 hour' order by seen_at limit 100`;

/**
 * End our own sessions in which Postgres has waited for the rest of a statement longer than `silentMs`: their
 * process was stopped, or its machine is gone, between two messages. No timeout of Postgres's before 17 sees
 * them (idle_in_transaction_session_timeout takes them for working), and they may hold the rows of a run.
 * @returns how many were ended
 */
export const endSilentSessions = async (sql: Queryable, silentMs: number): Promise<number> => {
  const rows = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name like 'catalogue%'
      and state = 'active' and wait_event = 'ClientRead'
      and state_change < now() - ${silentMs} * interval '1 millisecond'`;
  return rows.length;
};
