import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { workers } from '#db/schema/workers.ts';

export type WorkerRow = InferSelectModel<typeof workers>;

/** A worker says every ten seconds that it lives; silent for thirty, it is taken for gone. */
export const HEARTBEAT_MS = 10_000;
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

export const removeWorker = async (sql: Queryable, worker_id: string): Promise<void> => {
  await sql`delete from workers where worker_id = ${worker_id}`;
};

export const listLiveWorkers = (sql: Queryable): Promise<WorkerRow[]> =>
  sql<WorkerRow[]>`
    select * from workers where seen_at > now() - ${SILENT_AFTER}::interval order by started_at`;

export const deleteSilentWorkers = async (sql: Queryable): Promise<void> => {
  await sql`delete from workers where seen_at < now() - interval '1 hour'`;
};
