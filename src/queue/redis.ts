import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl } from '#src/queue/redis-url.ts';

export type RedisConnection = {
  client: Redis | Cluster;
  ping: () => Promise<void>;
  close: () => Promise<void>;
};

/** A producer gives up after this many tries of one command; the command line then says that Redis is away. */
const PRODUCER_RETRIES = 2;

/** Open Redis as the URL says. Connection errors go to `onError` and are tried again with a bounded wait. */
export const openRedis = (
  redisUrl: string,
  role: 'producer' | 'worker',
  onError: (error: Error) => void,
): RedisConnection => {
  const target = parseRedisUrl(redisUrl);
  const options: RedisOptions = {
    ...target.options,
    // BullMQ wants commands of workers to wait without limit; those of producers must fail in time to say so.
    maxRetriesPerRequest: role === 'worker' ? null : PRODUCER_RETRIES,
    connectTimeout: 5_000,
    retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 6), 3_000),
  };
  const client =
    target.kind === 'cluster'
      ? new Cluster(target.nodes, { redisOptions: options, enableReadyCheck: true })
      : new Redis(options);
  client.on('error', onError);
  return {
    client,
    ping: async () => {
      await client.ping();
    },
    close: async () => {
      client.disconnect();
    },
  };
};
