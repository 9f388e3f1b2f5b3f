import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { listWorkerQueues, recordHeartbeat } from '#db/queries/workers.ts';
import { readConfig } from '#src/config.ts';
import { tick } from '#src/ingest/specs.ts';
import { explainOtherQueue, queueList } from '#src/lists/queues.ts';
import { readFirst } from '#src/lists/read.ts';
import { startWorker } from '#src/processes/worker.ts';
import { runCli, startCli } from '#test/support/cli.ts';
import { addTestOperator, signIn, startTestConsole } from '#test/support/console.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { asOperator } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

test('a queue without ticks, while workers run, is another one than theirs', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  const { sql, producer } = fleet;
  const explain = async () =>
    explainOtherQueue(sql, await readFirst(queueList, { sql, producer: async () => producer }, {}, 100));
  await fleet.addApplication('acme', 1);
  expect(await explain()).toBeUndefined();
  await sql`update applications set updated_at = now() - interval '3 minutes'`;
  expect(await explain()).toBeUndefined();
  await recordHeartbeat(sql, { worker_id: randomUUID(), host: 'host', pid: 1, queue: 'Postgres' });
  expect(await explain()).toMatch(/^Workers run, and this queue has no tick .* REDIS_URL or QUEUE_PREFIX /);
  // A console whose prefix is another one.
  const site = await startTestConsole(fleet);
  stack.defer(site.stop);
  await addTestOperator(sql, 'vera', 'viewer');
  const cookie = await signIn(site.url, 'vera');
  const page = await fetch(new URL('/queues', site.url), { headers: { cookie } });
  expect(await page.text()).toContain('REDIS_URL or QUEUE_PREFIX of this process');
  await producer.add(tick, { application_id: 'acme', schedule: 'games' as const }, { delayMs: 60_000 });
  expect(await explain()).toBeUndefined();
});

test('workers with different settings of the queue are named by the log of each, queue status and the console', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  const other = { worker_id: randomUUID(), host: 'host', pid: 1, queue: 'Redis {other}' };
  const worker = startCli(['worker'], { DATABASE_URL: fleet.databaseUrl, METRICS_PORT: '0' });
  stack.defer(async () => {
    worker.kill('SIGKILL');
    await worker.done;
  });
  const problem = 'Workers take jobs from 2 queues (Postgres, Redis {other})';
  await until('its log names both', async () => {
    await recordHeartbeat(fleet.sql, other);
    return worker.output().stderr.includes(problem);
  });
  const status = await runCli(['queue', 'status'], asOperator(fleet.databaseUrl));
  expect(`${status.stdout}${status.stderr}`).toContain(problem);
});

test.skipIf(inject('redisUrl') === null)(
  'workers with one prefix on two servers of Redis are named as well, and a flushed one keeps its name',
  async () => {
    const fleet = await startTestFleet('redis');
    await using stack = new AsyncDisposableStack();
    stack.defer(fleet.stop);
    const { sql, databaseUrl, prefix, redisUrl = '' } = fleet;
    const start = async (database: number) => {
      const REDIS_URL = new URL(`/${database}`, redisUrl).href;
      const config = readConfig({ DATABASE_URL: databaseUrl, REDIS_URL, QUEUE_PREFIX: prefix });
      const worker = await startWorker(config, databaseUrl, pino({ level: 'silent' }), { checkMs: 50 });
      stack.defer(worker.stop);
      return worker;
    };
    const queues = () => listWorkerQueues(sql);
    await Promise.all([start(0), start(0)]);
    await until('both are there', async () => (await sql`select from workers`).count === 2);
    const [name, ...others] = await queues();
    expect(others).toEqual([]);
    await fleet.flushQueue();
    await until('it is claimed again', () => fleet.backend.redis?.exists(`${prefix}:database`).then(Boolean));
    expect(await queues()).toEqual([name]);
    await start(1);
    await until('two queues', async () => (await queues()).length === 2);
    expect((await queues()).every((queue) => queue.startsWith(`Redis ${prefix} `))).toBe(true);
  },
);
