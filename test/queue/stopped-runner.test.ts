import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readTime } from '#db/client.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { openTrustedClock } from '#src/queue/trusted-clock.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const spec = defineSpec({
  name: 'stopped',
  payload: z.object({}),
  options: { attempts: 1, backoffMs: 0, concurrency: 1 },
  title: () => 'stopped',
});

test('a runner that has stopped reports no session that Postgres ends', async () => {
  const { sql, backend, log, stop } = await startTestFleet('postgres');
  onTestFinished(stop);
  const producer = createProducer(backend, [spec], () => {});
  onTestFinished(producer.close);
  const errors: string[] = [];
  const clock = await openTrustedClock(() => readTime(sql));
  const job = defineJob(spec, async () => ({}));
  const logger = pino({ level: 'silent' });
  const runner = startRunner(
    backend,
    [job],
    undefined,
    clock,
    logger,
    ({ message }) => void errors.push(message),
  );
  await runner.ready();
  /** Ends the idle sessions of the queue. */
  const endSessions = () =>
    sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'catalogue queue' and state = 'idle'`;
  await until('it reports sessions that end while it runs', async () => {
    await endSessions();
    return errors.length > 0;
  });

  await runner.stop(1_000);
  await until('the pool has a session', () =>
    backend.ping().then(
      () => true,
      () => false,
    ),
  );
  errors.length = 0;
  const countReports = () => log().split('terminating connection').length;
  const before = countReports();
  await endSessions();
  await until('the pool reports them', () => countReports() > before);
  expect(errors).toEqual([]);
});
