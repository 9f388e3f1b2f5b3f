import type { Database } from '#db/client.ts';
import { tryLock } from '#db/locks.ts';
import { listDueApplications } from '#db/queries/event-deliveries.ts';
import { type KycRequest, listRequestedKyc } from '#db/queries/kyc.ts';
import { listDueSubscriptions } from '#db/queries/subscriptions.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { addRefreshes } from '#src/ingest/refresh.ts';
import { deliverEvent, queryCpKyc } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

/** Applications of one kind that one call serves; the next calls serve the others. */
const BATCH = 1_000;

/**
 * Assigns positions to new events, then adds the jobs that must start within seconds: jobs that send due events, and the
 * jobs and runs that applications and operators have requested. Each application has at most one job of each kind.
 *
 * Workers call this about once a second; only the one with the lock does it. The transaction of the lock does nothing else.
 * Due work is read from the database, so a lost queue or a killed worker loses nothing.
 * @param options.after what the call before returned; requests stay while their job waits, so each call serves the next
 * ones
 */
export const addUrgentJobs = (
  sql: Database,
  producer: Producer,
  { batch = BATCH, after }: { batch?: number; after?: KycRequest | undefined } = {},
): Promise<KycRequest | undefined> =>
  sql.begin(async (session) => {
    if (!(await tryLock(session, 'urgentJobs'))) return after;
    await placeEvents(sql, 'events');
    await placeEvents(sql, 'stream_events');
    const due = await listDueApplications(sql, batch);
    const subscriptions = await listDueSubscriptions(sql, batch);
    const requested = await listRequestedKyc(sql, batch, after);
    await Promise.all([
      ...due.map((application_id) =>
        producer.add(deliverEvent, { application_id }, { once: application_id }),
      ),
      ...subscriptions.map((subscription_id) =>
        producer.add(deliverEvent, { subscription_id }, { once: subscription_id }),
      ),
      ...requested.map(({ application_id }) =>
        producer.add(queryCpKyc, { application_id }, { once: application_id }),
      ),
      addRefreshes({ sql, producer }, batch),
    ]);
    return requested.length === batch ? requested.at(-1) : undefined;
  });
