import { type Fault, isDetail, pause, twoWorkers, workerAt } from '#test/fleet/faults/fault.ts';
import { until } from '#test/support/until.ts';

const EVICTED = 20;

/** What becomes of Redis, where the queues live there. */
export const REDIS_FAULTS: readonly Fault[] = [
  {
    name: 'SIGTERM with calls in flight and Redis down',
    mostCalls: 2,
    on: 'redis',
    inject: async (world) => {
      const worker = await workerAt(world, isDetail);
      world.redis.network.cut({ refuse: true });
      const { tookMs } = await worker.stop();
      if (tookMs > 20_000) throw new Error(`ended after ${Math.round(tookMs)} ms`);
      world.redis.network.restore();
      world.first.release();
      await world.startWorker();
    },
  },
  {
    name: 'Redis restarted, with what it kept',
    mostCalls: 2,
    on: 'redis',
    world: { redisArgs: ['--appendonly', 'yes', '--appendfsync', 'always'] },
    inject: async (world) => {
      await twoWorkers(world);
      await world.redis.server.end();
      await pause(500);
      await world.redis.server.start();
    },
  },
  {
    name: 'Redis killed, and empty when it comes back',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world);
      await world.redis.server.end('SIGKILL');
      await world.redis.server.start();
    },
  },
  {
    name: 'Redis out of memory',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world);
      await world.redis.client.config('SET', 'maxmemory', '1mb');
      await pause(3_000);
      await world.redis.client.config('SET', 'maxmemory', '0');
    },
  },
  {
    name: 'Redis unreachable',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world);
      world.redis.network.cut({ refuse: true });
      await pause(4_000);
      world.redis.network.restore();
    },
  },
  {
    name: 'Redis silent: the network swallows everything',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world);
      world.redis.network.pause();
      await pause(4_000);
      world.redis.network.resume();
    },
  },
  {
    name: 'Redis unreachable for a minute',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world);
      world.redis.network.cut({ refuse: true });
      await pause(60_000);
      world.redis.network.restore();
    },
  },
  {
    name: 'Redis evicts keys, because somebody changed its maxmemory-policy under the workers',
    mostCalls: 6,
    on: 'redis',
    world: { latencyMs: 200 },
    inject: async (world) => {
      await twoWorkers(world);
      const { client } = world.redis;
      const read = async (field: string) =>
        Number(new RegExp(`${field}:(\\d+)`).exec(await client.info())?.[1]);
      await client.config('SET', 'maxmemory-policy', 'allkeys-random');
      await client.config('SET', 'maxmemory', String(Math.round((await read('used_memory')) * 0.95)));
      await until('keys are evicted', async () => (await read('evicted_keys')) > EVICTED);
      await client.config('SET', 'maxmemory', '0');
      await client.config('SET', 'maxmemory-policy', 'noeviction');
    },
  },
];
