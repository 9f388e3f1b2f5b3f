import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createSuspicion, type Stuck, startLiveness } from '#src/queue/liveness.ts';
import { createProducer } from '#src/queue/producer.ts';
import type { Load } from '#src/queue/runner.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { startProxy } from '#test/fleet/proxy.ts';
import { startRedisServer } from '#test/fleet/redis-server.ts';
import { openWorld } from '#test/fleet/world.ts';
import { until } from '#test/support/until.ts';

const idle: Load = { name: 'tick', inHand: 0, concurrency: 20, taken: 7 };
const seen = (changes: Partial<Load> & { waiting?: number; canaries?: number }) => ({
  canaries: changes.canaries ?? 0,
  waiting: new Map([['tick', changes.waiting ?? 0]]),
  loads: [{ ...idle, ...changes }],
});

describe('a queue is suspected when look after look', () => {
  /** What three looks make of a story, look by look. */
  const judge = (story: readonly (ReturnType<typeof seen> | undefined)[]): (Stuck | undefined)[] => {
    const suspect = createSuspicion('canary', 3);
    return story.map((look) => suspect(look));
  };
  const last = (story: Parameters<typeof judge>[0]) => judge(story).at(-1);

  test('jobs wait, there is room, and none is taken', () => {
    const story = [1, 2, 3, 4].map((canaries) => seen({ waiting: 3, canaries }));
    expect(last(story)).toEqual({ queue: 'tick', inHand: 0 });
  });

  test('no canary is taken', () => {
    expect(last([1, 1, 1, 1].map((canaries) => seen({ canaries })))).toMatchObject({ queue: 'canary' });
  });

  test('but not when it takes some, is full, or has none to take', () => {
    const numbers = [1, 2, 3, 4, 5];
    expect(last(numbers.map((n) => seen({ waiting: 3, taken: n, canaries: n })))).toBeUndefined();
    expect(last(numbers.map((n) => seen({ waiting: 3, inHand: 20, canaries: n })))).toBeUndefined();
    expect(last(numbers.map((n) => seen({ waiting: 0, canaries: n })))).toBeUndefined();
  });

  test('nor when a server was away in between', () => {
    const stuck = seen({ waiting: 3 });
    expect(last([stuck, stuck, stuck, undefined, stuck, stuck, stuck])).toBeUndefined();
  });
});

describe.skipIf(withoutRedis('liveness'))('a worker', () => {
  /** A liveness of its own over a proxied Redis, with nothing but canaries. */
  const startAlone = async () => {
    const server = await startRedisServer();
    const proxy = await startProxy(() => server.port);
    const onError = () => {};
    const redisUrl = proxy.through(server.url);
    const backend = openQueueBackend({
      databaseUrl: '',
      redisUrl,
      prefix: '{alone}',
      role: 'worker',
      onError,
    });
    const producer = createProducer(backend, jobSpecs, onError);
    const stuck: Stuck[] = [];
    const liveness = startLiveness({
      worker_id: randomUUID(),
      backend,
      producer,
      runner: { loads: () => [] },
      onCanary: async () => {},
      pingDatabase: async () => {},
      onStuck: (what) => stuck.push(what),
      logger: pino({ level: 'silent' }),
      onError,
      canaryMs: 100,
    });
    onTestFinished(async () => {
      await liveness.stop();
      await producer.close();
      await backend.close();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });
    return { liveness, proxy, stuck, server };
  };

  test('is ready once a canary has passed through queue and database', async () => {
    const { liveness } = await startAlone();
    expect(liveness.isReady()).toBe(false);
    await until('it is ready', () => liveness.isReady());
  });

  test('that no longer hears of jobs after a reconnect is found stuck, though Redis answers', async () => {
    const { liveness, proxy, stuck } = await startAlone();
    await until('it is ready', () => liveness.isReady());
    // From now on every connection that waits for jobs waits for ever, however often it is made anew.
    proxy.watch({
      request: (chunk, memory) => {
        memory.waits ||= /bzpopmin/i.test(chunk.toString('latin1'));
        return memory.waits === true ? 'swallow' : 'pass';
      },
    });
    proxy.cut();
    await until('it is found stuck', () => stuck.length > 0);
    expect(liveness.isReady()).toBe(false);
  });

  test('is not found stuck while Redis is away, and goes on when it is back', async () => {
    const { liveness, server, stuck } = await startAlone();
    await until('it is ready', () => liveness.isReady());
    await server.end('SIGKILL');
    // An outage of many looks: what must not happen has no condition to wait for.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await server.start();
    await until('it is ready', () => liveness.isReady());
    expect(stuck).toEqual([]);
  });

  test('leaves nothing of its canary behind, and no row, when it is told to stop', async () => {
    await using world = await openWorld(sharedGround(), { applications: 1, games: 1 });
    const worker = await world.startWorker();
    const rows = () => world.sql`select worker_id from workers`;
    await until('its canary has written', async () => (await rows()).length === 1);
    expect(await world.redis.client.keys('{fleet}:canary-*')).not.toEqual([]);
    expect((await worker.stop()).code).toBe(0);
    expect(await world.redis.client.keys('{fleet}:canary-*')).toEqual([]);
    expect(await rows()).toEqual([]);
  });
});
