import { Cluster, Redis, type RedisOptions } from 'ioredis';
import pTimeout from 'p-timeout';
import { CatalogueError, coerceError, UsageError } from '#src/errors.ts';
import { parseRedisUrl } from '#src/queue/redis-url.ts';

export type RedisConnection = {
  client: Redis | Cluster;
  /** @throws CatalogueError that says in a sentence why Redis does not answer */
  ping: () => Promise<void>;
  /** Is this a Redis we can work with? @returns warnings. @throws CatalogueError when it is too old */
  check: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** A producer gives up after this many tries of one command; the command line then says that Redis is away. */
const PRODUCER_RETRIES = 2;
/** No command of a producer takes longer than this, and no connection: somebody waits at a terminal. */
const PRODUCER_COMMAND_MS = 10_000;
const PRODUCER_CONNECT_MS = 2_000;
const WORKER_CONNECT_MS = 5_000;
/** A producer's first word: past this, Redis is away. */
const PING_MS = 5_000;

const MINIMUM_VERSION = [6, 2] as const;

/**
 * Open Redis as the URL says. Connection errors go to `onError` and are tried again with a bounded wait.
 * @throws UsageError when the queues' prefix can't work there
 */
export const openRedis = (
  redisUrl: string,
  { prefix, role, onError }: { prefix: string; role: 'producer' | 'worker'; onError: (error: Error) => void },
): RedisConnection => {
  const target = parseRedisUrl(redisUrl);
  if (target.kind === 'cluster' && !/\{[^}]+\}/.test(prefix)) {
    throw new UsageError(
      `QUEUE_PREFIX "${prefix}" has no {hash tag}: on a cluster it keeps a run's queues together. Set QUEUE_PREFIX={${prefix}}.`,
    );
  }
  const worker = role === 'worker';
  const retryStrategy = (times: number) => Math.min(100 * 2 ** Math.min(times, 6), 3_000);
  const options: RedisOptions = {
    ...target.options,
    // BullMQ wants commands of workers to wait without limit; those of producers must fail in time to say so.
    maxRetriesPerRequest: worker ? null : PRODUCER_RETRIES,
    ...(worker ? {} : { commandTimeout: PRODUCER_COMMAND_MS }),
    connectTimeout: worker ? WORKER_CONNECT_MS : PRODUCER_CONNECT_MS,
    retryStrategy,
    // READONLY is a replica that was a master until a moment ago: look for the new one. EXECABORT is a transaction
    // refused before it ran (memory full): ioredis takes its scripts for loaded on this connection from then on,
    // and every flow ends in NOSCRIPT for as long as the connection lives. A new one is told them again.
    reconnectOnError: (error) => /^(READONLY|EXECABORT)\b/.test(error.message),
  };
  const client =
    target.kind === 'cluster'
      ? new Cluster(target.nodes, {
          redisOptions: options,
          enableReadyCheck: true,
          clusterRetryStrategy: retryStrategy,
          // As the cluster names its nodes: certificates are for names.
          dnsLookup: (address, found) => found(null, address),
        })
      : new Redis(options);
  let lastError: Error | undefined;
  let noDatabase: Error | undefined;
  client.on('error', (error: Error) => {
    lastError = error;
    // Redis has no database of the number that the URL names: ioredis says so, and goes on in number 0.
    if (/DB index is out of range/.test(error.message)) noDatabase = error;
    onError(error);
  });
  let wasReady = false;
  client.once('ready', () => {
    wasReady = true;
  });
  return {
    client,
    ping: async () => {
      // It was there and is not: to wait for it to come back would only tell later that it is away.
      if (wasReady && client.status !== 'ready') throw explain(undefined, lastError);
      const answer = await pTimeout(client.ping(), { milliseconds: PING_MS }).catch(coerceError);
      if (noDatabase !== undefined) throw explain(noDatabase, lastError);
      if (answer !== 'PONG') throw explain(answer instanceof Error ? answer : undefined, lastError);
    },
    check: async () => {
      const info = await client.info();
      if (noDatabase !== undefined) throw explain(noDatabase, lastError);
      return checkServer(info);
    },
    close: async () => {
      client.disconnect();
    },
  };
};

/** Why Redis does not answer, in a sentence. Neither its address's user nor its password is in it. */
const explain = (error: Error | undefined, last: Error | undefined): CatalogueError => {
  const refusal = [error, last].find((each) => /^(WRONGPASS|NOAUTH|NOPERM|ERR) /.test(each?.message ?? ''));
  if (refusal !== undefined)
    return new CatalogueError(`Redis refused: ${refusal.message.slice(0, 200)} Check REDIS_URL.`);
  const { code, address, port } = (last ?? error ?? {}) as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  const where = address === undefined ? '' : ` at ${address}:${port}`;
  const why = typeof code === 'string' ? ` (${code})` : '';
  return new CatalogueError(
    `Redis does not answer${where}${why}: check REDIS_URL, and that the server runs.`,
  );
};

/** What INFO says, held against what the queues need. */
const checkServer = (info: string): string[] => {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const version = field('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor < MINIMUM_VERSION[1])) {
    throw new CatalogueError(
      `Redis ${version} is too old: the queues need ${MINIMUM_VERSION.join('.')} or newer.`,
    );
  }
  const policy = field('maxmemory_policy');
  if (policy === undefined || policy === 'noeviction') return [];
  return [
    `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and jobs are lost with them: set maxmemory-policy to noeviction`,
  ];
};
