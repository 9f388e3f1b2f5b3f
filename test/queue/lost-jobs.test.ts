import { Redis } from 'ioredis';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openQueueBackend } from '#src/queue/backend.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { runCli } from '#test/support/cli.ts';
import { localClock } from '#test/support/clock.ts';
import { addApplication } from '#test/support/factories.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { until } from '#test/support/until.ts';

const logger = pino({ level: 'silent' });
const named = (name: string) =>
  defineSpec({
    name,
    payload: z.object({}),
    options: { attempts: 1, backoffMs: 0, concurrency: 1 },
    title: () => name,
  });
const [whole, withoutJob, withoutList] = ['whole', 'without-job', 'without-list'].map(named) as [
  ReturnType<typeof named>,
  ReturnType<typeof named>,
  ReturnType<typeof named>,
];
const specs = [whole, withoutJob, withoutList];
const [parent, listKey] = ['parent', 'list-key'].map(named) as [
  ReturnType<typeof named>,
  ReturnType<typeof named>,
];

onBothBackends('A job that was added once, and whose keys were deleted', (kind) => {
  test('is added again, and those that are added after it too', async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const producer = createProducer(fleet.backend, specs, () => {});
    onTestFinished(producer.close);
    const ran = new Map<string, number>();
    const add = (spec: (typeof specs)[0]) => producer.add(spec, {}, { once: 'acme' });
    const ids = await Promise.all(specs.map(async (spec) => (await add(spec)).id));
    // One job a key, although two were added.
    expect(await Promise.all(specs.map(async (spec) => (await add(spec)).id))).toEqual(ids);
    if (fleet.redisUrl === undefined) {
      await fleet.sql`delete from bullmq.job where queue in ('without-job', 'without-list')`;
    } else {
      const redis = new Redis(fleet.redisUrl);
      onTestFinished(() => redis.disconnect());
      await redis.del(`${fleet.prefix}:without-job:${ids[1]}`, `${fleet.prefix}:without-list:wait`);
    }
    const jobs = specs.map((spec) =>
      defineJob(spec, async () => {
        ran.set(spec.name, (ran.get(spec.name) ?? 0) + 1);
        return {};
      }),
    );
    const runner = startRunner(fleet.backend, jobs, undefined, localClock, logger, () => {});
    onTestFinished(() => runner.stop(1_000));
    await until('each queue has run jobs', async () => {
      for (const spec of specs) await add(spec);
      return specs.every((spec) => (ran.get(spec.name) ?? 0) >= 3);
    });
  });
});

onBothBackends('A job that was added once, and that somebody made a parent of others', (kind) => {
  test('is added again, also if its key was made a list', async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const forged = kind === 'redis' ? [parent, listKey] : [parent];
    const producer = createProducer(fleet.backend, forged, () => {});
    onTestFinished(producer.close);
    const add = (spec: typeof parent) => producer.add(spec, {}, { once: 'acme' });
    const { id = '' } = await add(parent);
    if (fleet.redisUrl === undefined) {
      await fleet.sql`update bullmq.job set state = 'waiting-children' where id = ${id}`;
    } else {
      const redis = new Redis(fleet.redisUrl);
      onTestFinished(() => redis.disconnect());
      const key = (name: string) => `${fleet.prefix}:${name}`;
      await redis.lrem(key('parent:wait'), 0, id);
      await redis.zadd(key('parent:waiting-children'), Date.now(), id);
      await redis.rpush(key('list-key:de:acme'), 'no text');
    }
    const ran = new Set<string>();
    const jobs = forged.map((spec) =>
      defineJob(spec, async () => {
        ran.add(spec.name);
        return {};
      }),
    );
    const runner = startRunner(fleet.backend, jobs, undefined, localClock, logger, () => {});
    onTestFinished(() => runner.stop(1_000));
    for (const spec of forged)
      await until(
        `${spec.name} runs`,
        async () => {
          await add(spec);
          return ran.has(spec.name);
        },
        60_000,
      );
  });
});

describe.skipIf(inject('redisUrl') === null)('A Redis that evicts keys', () => {
  test('is refused by workers, media processes and migrate, with what to do', async () => {
    await using server = await startRedisServer({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const fleet = await startTestFleet('postgres');
    onTestFinished(fleet.stop);
    const env = { DATABASE_URL: fleet.databaseUrl, REDIS_URL: server.url, METRICS_PORT: '0' };
    for (const command of ['worker', 'media', 'migrate']) {
      const { exit, stderr, stdout } = await runCli([command], env);
      expect({ command, exit }).toEqual({ command, exit: 1 });
      expect(stderr + stdout).toContain('maxmemory-policy allkeys-lru');
      expect(stderr + stdout).toContain('redis-cli config set maxmemory-policy noeviction');
    }
  });

  test('that was started without: the processes that run are no longer ready, and say what to do', async () => {
    await using server = await startRedisServer();
    const place = { databaseUrl: '', redisUrl: server.url, prefix: '{catalogue}' };
    const backend = openQueueBackend({ ...place, use: 'worker', onError: () => {} });
    onTestFinished(backend.close);
    await backend.probe();
    await backend.redis?.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(backend.probe()).rejects.toThrow('redis-cli config set maxmemory-policy noeviction');
    await backend.redis?.config('SET', 'maxmemory-policy', 'noeviction');
    await backend.probe();
  });
});

test.skipIf(inject('redisUrl') === null)(
  'keys of the queues to which another program wrote are named as such',
  async () => {
    const fleet = await startTestFleet('redis');
    onTestFinished(fleet.stop);
    const { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL = '', prefix: QUEUE_PREFIX } = fleet;
    await addApplication(fleet.sql, 'acme');
    const redis = new Redis(REDIS_URL);
    onTestFinished(() => redis.disconnect());
    await redis.set(`${QUEUE_PREFIX}:query-game-list:prioritized`, 'theirs');
    await redis.set(`${QUEUE_PREFIX}:query-game-list:wait`, 'theirs');
    const { stderr } = await runCli(['sync', 'acme'], { DATABASE_URL, REDIS_URL, QUEUE_PREFIX });
    expect(stderr).toMatch(
      /another program wrote to the keys of the queues \(WRONGTYPE\)\. Give the catalogue a Redis/i,
    );
    expect(stderr).not.toContain('Internal error');
  },
);
