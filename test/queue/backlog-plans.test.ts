import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const JOBS = 5_000;
const spec = defineSpec({
  name: 'overdue',
  payload: z.object({}),
  options: { attempts: 1, backoffMs: 1, concurrency: 10 },
  title: () => 'overdue',
});

test('on PostgreSQL, a worker with a backlog reads no whole table of jobs', async () => {
  const fleet = await startTestFleet('postgres');
  const { databaseUrl, prefix } = fleet;
  const backend = openQueueBackend({ databaseUrl, prefix, use: 'worker', onError: () => {} });
  const producer = createProducer(backend, [spec], () => {});
  // Autovacuum comes whenever it comes: these are the statistics of a queue just before its workers return.
  await fleet.sql`alter table bullmq.job set (autovacuum_enabled = off)`;
  await fleet.sql`
    insert into bullmq.job (queue, id, seq, name, state, data, opts, added_at_ms, process_at_ms)
    select 'overdue', 'overdue-' || n, n, 'overdue', 'delayed', '{}', '{}', n, n from generate_series(1, ${JOBS}) n`;
  await fleet.sql`analyze bullmq.job`;
  await fleet.sql`select pg_stat_reset_single_table_counters('bullmq.job'::regclass)`;
  const job = defineJob(spec, async (_payload, _context: JobContext) => ({}));
  const runner = startRunner(backend, [job], fleet.deps, localClock, pino({ level: 'silent' }), () => {});
  const done = async () => (await producer.queue(spec).getJobCounts('completed')).completed ?? 0;
  await until('a hundred jobs have ended', async () => (await done()) >= 100);
  await runner.stop(1_000);
  await producer.close();
  // Sessions report what they read when they end.
  await backend.close();
  const read = async () => {
    const [row] = await fleet.sql<{ whole: number; indexed: number }[]>`
      select seq_scan::int as whole, idx_scan::int as indexed
      from pg_stat_user_tables where relid = 'bullmq.job'::regclass`;
    return row;
  };
  await until('the sessions have reported', async () => ((await read())?.indexed ?? 0) > 100);
  expect((await read())?.whole).toBe(0);
  await fleet.stop();
});
