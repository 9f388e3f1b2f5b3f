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
