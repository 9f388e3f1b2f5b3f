import { Redis } from 'ioredis';
import type { Database } from '#db/client.ts';
import { transact } from '#db/transact.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { type RedisCluster, startRedisCluster } from '#test/fleet/redis-cluster.ts';
import { type RedisSentinel, startRedisSentinel } from '#test/fleet/redis-sentinel.ts';
import { type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';

export const QUEUE_PREFIX = '{fleet}';

/** A Redis of the world's own. */
export type RedisSide = { server: RedisServer; client: Redis; network: TcpProxy };

/** Where a world's queues live, and what can be done to them from outside. */
export type WorldQueue = {
  kind: 'redis' | 'postgres';
  /** Past the network; undefined when the queues are in the database. */
  redisUrl: string | undefined;
  /** What workers are told. */
  env: Record<string, string>;
  redis: RedisSide | undefined;
  /** The cluster, if the queues are in one. */
  cluster?: RedisCluster;
  /** What watches the Redis of the queues, if something does. */
  sentinel?: RedisSentinel;
  /** Keeps what workers say to the queue on its way, and nothing else. */
  pause: () => void;
  /** Lets it continue, on new connections. */
  resume: () => void;
  /** Lose every job and every schedule. */
  flush: () => Promise<void>;
  /** Makes a waiting job's payload another. */
  rewrite: (queue: string, job_id: string, payload: object) => Promise<void>;
  /** Jobs that have not ended, by their state: for the message of a standstill. */
  describe: () => Promise<unknown>;
};

/** Queues in a Redis of their own, behind a proxy. */
export const openRedisQueue = async (
  stack: AsyncDisposableStack,
  args: readonly string[] = [],
): Promise<WorldQueue> => {
  const server = stack.use(await startRedisServer({ args }));
  const network = stack.use(await startProxy(() => server.port));
  const client = stack.adopt(new Redis(server.url), (open) => open.disconnect());
  client.on('error', () => {});
  return {
    kind: 'redis',
    redisUrl: server.url,
    env: { REDIS_URL: network.through(server.url), QUEUE_PREFIX },
    redis: { server, client, network },
    pause: () => network.pause(),
    resume: () => {
      network.resume();
      network.cut();
    },
    flush: async () => void (await client.flushall()),
    rewrite: async (queue, job_id, payload) =>
      void (await client.hset(`${QUEUE_PREFIX}:${queue}:${job_id}`, 'data', JSON.stringify(payload))),
    describe: () => describeRedis(client),
  };
};

const withoutNetwork = (): never => {
  throw new Error('no network stands before these servers: disturb the servers');
};

/** Queues in a cluster of their own: three masters, each with a replica. Workers connect to it directly. */
export const openClusterQueue = async (stack: AsyncDisposableStack): Promise<WorldQueue> => {
  const cluster = stack.use(await startRedisCluster());
  return {
    kind: 'redis',
    redisUrl: cluster.url,
    env: { REDIS_URL: cluster.url, QUEUE_PREFIX },
    redis: undefined,
    cluster,
    pause: withoutNetwork,
    resume: withoutNetwork,
    flush: async () => {
      for (const master of await cluster.masters()) await cluster.cli(master, 'flushall');
    },
    rewrite: async (queue, job_id, payload) => {
      const key = `${QUEUE_PREFIX}:${queue}:${job_id}`;
      await cluster.cli(await cluster.masterOf(key), 'hset', key, 'data', JSON.stringify(payload));
    },
    describe: async () => cluster.cli(await cluster.masterOf(QUEUE_PREFIX), 'cluster', 'nodes'),
  };
};

/** Queues in a Redis of their own, which a Sentinel replaces with its replica. Workers connect to it directly. */
export const openSentinelQueue = async (stack: AsyncDisposableStack): Promise<WorldQueue> => {
  const sentinel = await startRedisSentinel(stack);
  const onMaster = async <Result>(work: (client: Redis) => Promise<Result>): Promise<Result> => {
    const client = new Redis((await sentinel.master()).url);
    return work(client).finally(() => client.disconnect());
  };
  return {
    kind: 'redis',
    redisUrl: sentinel.url,
    env: { REDIS_URL: sentinel.url, QUEUE_PREFIX },
    redis: undefined,
    sentinel,
    pause: withoutNetwork,
    resume: withoutNetwork,
    flush: async () => void (await onMaster((client) => client.flushall())),
    rewrite: withoutNetwork,
    describe: () => onMaster(describeRedis),
  };
};

const describeRedis = async (client: Redis): Promise<unknown> => {
  const states: Record<string, unknown> = {};
  for (const key of await client.keys(`${QUEUE_PREFIX}:query-game-*:*`)) {
    if (/:(active|wait|stalled)$/.test(key))
      states[key] = await (key.endsWith('stalled') ? client.smembers(key) : client.lrange(key, 0, -1));
    if (/:(delayed|waiting-children)$/.test(key)) states[key] = await client.zrange(key, '0', '-1');
    if (key.endsWith(':lock')) states[key] = await client.pttl(key);
  }
  return states;
};

/** BullMQ's connections among all that go to Postgres, by their first words (src/queue/backend.ts). */
const QUEUE_CONNECTIONS = /catalogue queue/;

/** Queues in the world's own database, behind the proxy that everything else of it goes through. */
export const openPostgresQueue = async (
  sql: Database,
  databaseUrl: string,
  network: TcpProxy,
): Promise<WorldQueue> => {
  const backend = openQueueBackend({
    databaseUrl,
    prefix: QUEUE_PREFIX,
    use: 'producer',
    onError: () => {},
  });
  await backend.migrate();
  await backend.close();
  return {
    kind: 'postgres',
    redisUrl: undefined,
    env: { QUEUE_PREFIX },
    redis: undefined,
    pause: () => network.pause(QUEUE_CONNECTIONS),
    resume: () => {
      network.resume();
      network.cut();
    },
    flush: async () => {
      const tables = await sql<{ name: string }[]>`
        select format('bullmq.%I', tablename) as name from pg_tables
        where schemaname = 'bullmq' and tablename not in ('meta', 'migration')`;
      // It locks the tables one after another, and a worker of BullMQ takes them in another order.
      await transact(sql, (tx) => tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`));
    },
    rewrite: async (queue, job_id, payload) => {
      await sql`update bullmq.job set data = ${sql.json(payload as never)} where queue = ${queue} and id = ${job_id}`;
    },
    describe: () => sql`
      select queue, id, state, locked_until_ms, process_at_ms from bullmq.job
      where queue like 'query-game-%' and state not in ('completed', 'failed') order by queue, id`,
  };
};
