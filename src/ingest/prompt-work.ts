import type { Database } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { listDueApplications } from '#db/queries/event-deliveries.ts';
import { placeEvents } from '#db/queries/events.ts';
import { addRefreshes } from '#src/ingest/refresh.ts';
import { deliverEvent } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

/** Applications of one turn; the others follow in the next. */
const BATCH = 1_000;

/**
 * Add the jobs of what must happen within seconds: events to be sent, games that
 * applications have changed. One worker of the fleet at a time, about once a
 * second; the lock belongs to a transaction that does nothing else. The database says what is due, so a lost queue or a
 * killed worker loses nothing, and an application has one such job at a time.
 */
export const addPromptWork = async (sql: Database, producer: Producer): Promise<void> => {
  await sql.begin(async (session) => {
    const [lock] = await session<{ locked: boolean }[]>`
      select pg_try_advisory_xact_lock(${LOCKS.promptWork}) as locked`;
    if (lock?.locked !== true) return;
    await placeEvents(sql);
    const due = await listDueApplications(sql, BATCH);
    await Promise.all([
      ...due.map((application_id) =>
        producer.add(deliverEvent, { application_id }, { once: application_id }),
      ),
      addRefreshes({ sql, producer }),
    ]);
  });
};
