import { Redis } from 'ioredis';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openQueueBackend } from '#src/queue/backend.ts';
import { defineJob, defineSpec } from '#src/queue/job.ts';
import { createStuckDetector, type Stuck, startLiveness } from '#src/queue/liveness.ts';
import { createProducer } from '#src/queue/producer.ts';
import { type Load, startRunner } from '#src/queue/runner.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { openWorld } from '#test/fleet/world.ts';
import { localClock } from '#test/support/clock.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';
import { until } from '#test/support/until.ts';

const logger = pino({ level: 'silent' });
const onError = () => {};

const nothing = defineSpec({
  name: 'nothing',
  payload: z.object({}),
  options: { attempts: 1, backoffMs: 0, concurrency: 1 },
  title: () => 'nothing',
});
const nothingJob = defineJob(nothing, async () => ({}));

const look = (changes: Partial<Load & { waiting: number }>) => [
  { name: 'tick', active: 0, concurrency: 20, taken: 7, waiting: 0, ...changes },
];

describe('a queue is stuck when look after look', () => {
  /** The verdict after the last of these looks, where three in a row count. */
  const judge = (looks: readonly (ReturnType<typeof look> | undefined)[]): Stuck | undefined => {
    const findStuck = createStuckDetector(3);
    return looks.map((each) => findStuck(each)).at(-1);
  };
  const stuck = look({ waiting: 3 });
  const numbers = [1, 2, 3, 4, 5];

  test('jobs wait, there is room, and none is taken', () => {
    expect(judge([stuck, stuck, stuck])).toBeUndefined();
    expect(judge([stuck, stuck, stuck, stuck])).toEqual({ queue: 'tick', active: 0 });
  });

  test('but not when it takes some, is full, or has none to take', () => {
    expect(judge(numbers.map((n) => look({ waiting: 3, taken: n })))).toBeUndefined();
    expect(judge(numbers.map(() => look({ waiting: 3, active: 20 })))).toBeUndefined();
    expect(judge(numbers.map(() => look({ waiting: 0 })))).toBeUndefined();
  });

  test('nor when a server was unreachable in between', () => {
    expect(judge([stuck, stuck, stuck, undefined, stuck, stuck, stuck])).toBeUndefined();
    expect(judge([stuck, stuck, stuck, undefined, stuck, stuck, stuck, stuck])).toBeDefined();
  });
});

describe.skipIf(withoutRedis('liveness'))('a worker', () => {
  /** A worker of one queue over a proxied Redis, with its liveness. */
  const startAlone = async () => {
    const server = await startRedisServer();
    const proxy = await startProxy(() => server.port);
    const redisUrl = proxy.through(server.url);
    const backend = openQueueBackend({
      databaseUrl: '',
      redisUrl,
      prefix: '{alone}',
      use: 'worker',
      onError,
    });
    const producer = createProducer(backend, [nothing], onError);
    const runner = startRunner(backend, [nothingJob], undefined, localClock, logger, onError);
    const stuck: Stuck[] = [];
    const liveness = startLiveness({
      backend,
      producer,
      runner,
      clock: localClock,
      recordHeartbeat: async () => {},
      onStuck: (what) => stuck.push(what),
      logger,
      checkMs: 100,
    });
    onTestFinished(async () => {
      await liveness.stop();
      await runner.stop(0);
      await producer.close();
      await backend.close();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });
    const addJob = () => producer.add(nothing, {});
    const taken = () => runner.loads()[0]?.taken ?? 0;
    return { liveness, proxy, stuck, server, addJob, taken };
  };

  test('is ready once queue and database have answered', async () => {
    const { liveness } = await startAlone();
    expect(liveness.fault()).toBeDefined();
    await until('it is ready', () => liveness.fault() === undefined);
  });

  test('that receives no jobs after a reconnect is found stuck, though Redis responds', async () => {
    const { liveness, proxy, stuck, addJob, taken } = await startAlone();
    await addJob();
    await until('it takes a job', () => taken() === 1);
    // From now on every connection that waits for jobs waits without end, after each reconnect too.
    proxy.watch({
      request: (chunk, memory) => {
        memory.waits ||= /bzpopmin/i.test(chunk.toString('latin1'));
        return memory.waits === true ? 'swallow' : 'pass';
      },
    });
    proxy.cut();
    let added = 1;
    await until('it is found stuck', async () => {
      // A fetch that was under way at the cut may still bring one job.
      if (taken() === added) {
        await addJob();
        added += 1;
      }
      return stuck.length > 0;
    });
    expect(stuck).toEqual([{ queue: nothing.name, active: 0 }]);
    expect(taken()).toBe(added - 1);
    expect(liveness.fault()).toBeDefined();
  });

  test('is not found stuck while Redis is down, and goes on when it is back', async () => {
    const { liveness, server, stuck } = await startAlone();
    await until('it is ready', () => liveness.fault() === undefined);
    await server.end('SIGKILL');
    // An outage of many looks: what must not happen has no condition to wait for.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await server.start();
    await until('it is ready', () => liveness.fault() === undefined);
    expect(stuck).toEqual([]);
  });

  test('is not found stuck while Redis accepts no writes', async () => {
    await using server = await startRedisServer();
    const backend = openQueueBackend({
      databaseUrl: '',
      redisUrl: server.url,
      prefix: '{full}',
      use: 'worker',
      onError,
    });
    const producer = createProducer(backend, [nothing], onError);
    await producer.add(nothing, {});
    const admin = new Redis(server.url);
    await admin.config('SET', 'maxmemory', '1mb');
    let looks = 0;
    const stuck: Stuck[] = [];
    const liveness = startLiveness({
      backend: {
        kind: backend.kind,
        probe: () => {
          looks += 1;
          return backend.probe();
        },
      },
      producer,
      runner: {
        loads: () => [{ name: nothing.name, active: 0, concurrency: 1, taken: 0 }],
        followClock: async () => {},
      },
      clock: localClock,
      recordHeartbeat: async () => {},
      onStuck: (what) => stuck.push(what),
      logger,
      checkMs: 100,
    });
    onTestFinished(async () => {
      await liveness.stop();
      await producer.close();
      await backend.close();
      admin.disconnect();
    });
    await until('it has looked often', () => looks > 20);
    expect(liveness.fault()).toBeDefined();
    expect(stuck).toEqual([]);
    await admin.config('SET', 'maxmemory', '0');
    await until('it is found stuck', () => stuck.length > 0);
  });

  test('records a heartbeat, and deletes its row when it stops', async () => {
    await using world = await openWorld(sharedGround(), { applications: 1, games: 1 });
    const worker = await world.startWorker();
    const rows = () => world.sql`select worker_id from workers`;
    await until('it has recorded a heartbeat', async () => (await rows()).length === 1);
    expect((await worker.stop()).code).toBe(0);
    expect(await rows()).toEqual([]);
  });
});
