import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { readConfig } from '#src/config.ts';
import { tick } from '#src/ingest/specs.ts';
import { startWorker } from '#src/processes/worker.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { startTestMedia } from '#test/support/media.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';
import { until } from '#test/support/until.ts';

const logger = pino({ level: 'silent' });
const withoutRedis = inject('redisUrl') === null;

test.skipIf(withoutRedis)(
  'the queues stay claimed while the last worker ends its jobs, and while a media process takes jobs',
  async () => {
    const fleet = await startTestFleet('redis');
    await using stack = new AsyncDisposableStack();
    stack.defer(fleet.stop);
    const { sql, databaseUrl, prefix, producer, redisUrl = '' } = fleet;
    const config = readConfig({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: prefix });
    const countWorkers = async () => (await sql`select from workers`).count;
    const start = async () => {
      const worker = await startWorker(config, databaseUrl, logger, { checkMs: 50 });
      await until('it records a heartbeat', async () => (await countWorkers()) === 1);
      return worker;
    };
    const isClaimed = async () => (await fleet.backend.redis?.exists(`${prefix}:database`)) === 1;

    await fleet.addApplication('acme', 1);
    const worker = await start();
    const lock = Promise.withResolvers<void>();
    const locked = sql.begin(async (tx) => {
      await tx`lock table sync_runs`;
      await producer.add(tick, { application_id: 'acme', schedule: 'games' as const });
      await lock.promise;
    });
    stack.defer(() => lock.resolve());
    await until('the tick runs', async () => (await producer.queue(tick).getActiveCount()) === 1);
    const stopped = worker.stop();
    await until('its row is deleted', async () => (await countWorkers()) === 0);
    await sleep(300);
    expect(await isClaimed()).toBe(true);
    lock.resolve();
    await Promise.all([locked, stopped]);
    await until('the claim has ended', async () => !(await isClaimed()));

    const media = await startTestMedia(databaseUrl, prefix);
    stack.defer(media.stop);
    await (await start()).stop();
    expect(await isClaimed()).toBe(true);
  },
);

test.skipIf(withoutRedis)('the last worker stops while Redis is down', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  await using redis = await startRedisServer();
  const config = readConfig({ DATABASE_URL: fleet.databaseUrl, REDIS_URL: redis.url });
  const worker = await startWorker(config, fleet.databaseUrl, logger, { checkMs: 50, drainMs: 100 });
  await until('it records a heartbeat', async () => (await fleet.sql`select from workers`).count === 1);
  await redis.end('SIGKILL');
  const stopped = worker.stop().then(() => 'stopped');
  // Less than the 40 s after which a process that does not stop is ended.
  expect(await Promise.race([stopped, sleep(30_000, 'waits')])).toBe('stopped');
});

test.skipIf(withoutRedis)('a worker stops while Postgres and Redis are silent', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  await using redis = await startRedisServer();
  const toPostgres = stack.use(await startProxy(() => Number(new URL(fleet.databaseUrl).port)));
  const toRedis = stack.use(await startProxy(() => Number(new URL(redis.url).port)));
  const databaseUrl = toPostgres.through(fleet.databaseUrl);
  const config = readConfig({ DATABASE_URL: databaseUrl, REDIS_URL: toRedis.through(redis.url) });
  const worker = await startWorker(config, databaseUrl, logger, { checkMs: 50, drainMs: 100 });
  await until('it records a heartbeat', async () => (await fleet.sql`select from workers`).count === 1);
  toPostgres.pause();
  toRedis.pause();
  const stopped = worker.stop().then(() => 'stopped');
  expect(await Promise.race([stopped, sleep(30_000, 'waits')])).toBe('stopped');
});
