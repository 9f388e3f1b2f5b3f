import type { Database } from '#db/client.ts';

type Delivery = {
  state: string;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  wait_s: number;
};
/** Reads the deliveries of an application, in the order of its events. */
export const readDeliveries = (sql: Database, application_id: string): Promise<Delivery[]> =>
  sql<Delivery[]>`
    select state, attempts, last_status, last_error, extract(epoch from next_attempt_at - now())::int as wait_s
    from event_deliveries where application_id = ${application_id} order by event_id`;
