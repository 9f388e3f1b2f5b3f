import { randomUUIDv7 } from 'node:crypto';
import { pino } from 'pino';
import type { Database } from '#db/client.ts';
import { enqueueNextPage, openRun } from '#src/ingest/steps.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { QUEUE_PREFIX, type WorldQueue } from '#test/fleet/world-queue.ts';

const silent = pino({ level: 'silent' });

/** The queues of a world, past its network. */
export const openProducer = (databaseUrl: string, redisUrl: string | undefined) =>
  openFoundation({ redisUrl, queuePrefix: QUEUE_PREFIX }, databaseUrl, {
    use: 'producer',
    name: 'world',
    maxConnections: 2,
    logger: silent,
  });

/** Opens a full run of each application and adds its first step, as `catalogue sync` does. */
export const addRuns = async (
  databaseUrl: string,
  redisUrl: string | undefined,
  application_ids: readonly string[],
) => {
  await using foundation = openProducer(databaseUrl, redisUrl);
  for (const application_id of application_ids) {
    const { run } = await openRun(foundation.sql, {
      run_id: randomUUIDv7(),
      application_id,
      trigger: 'manual',
      full: true,
      accept_withdrawals: false,
    });
    await enqueueNextPage(foundation.producer, run);
  }
};

/** What holds everything up: sessions that do something, and jobs that have not ended. */
export const describeStandstill = async (sql: Database, queue: WorldQueue, open: unknown) => {
  const sessions = await sql`
    select pid, state, wait_event, left(query, 80) as query, pg_blocking_pids(pid)::text as waits_for
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.catch(
    () => 'no answer',
  );
  return { open, sessions, jobs: await queue.describe() };
};
