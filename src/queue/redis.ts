import { randomBytes } from 'node:crypto';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import pTimeout from 'p-timeout';
import { CatalogueError, coerceError, UsageError } from '#src/errors.ts';
import { parseRedisUrl, type RedisTarget } from '#src/queue/redis-url.ts';
import { explainServerFault, findTlsFault } from '#src/server-faults.ts';

export type RedisConnection = {
  client: Redis | Cluster;
  /** @throws CatalogueError with the reason why Redis does not answer */
  ping: () => Promise<void>;
  /** @throws CatalogueError if Redis is too old, or evicts keys when its memory is full */
  check: () => Promise<void>;
  /**
   * Writes a key.
   * @throws CatalogueError if the connection is lost, or if Redis evicts keys (a cluster says that at the start of a process only)
   */
  probe: (key: string) => Promise<void>;
  /**
   * Claims the queues for a database, for a minute.
   * @returns an id that all processes with these queues have; undefined if another database has them
   */
  claim: (key: string, database: string) => Promise<string | undefined>;
  /** Ends a claim of this database. */
  release: (key: string, database: string) => Promise<void>;
  close: () => Promise<void>;
};

const PRODUCER_RETRIES = 2;
/** A producer's commands time out, because a CLI command or a reconciler pass waits for them. */
const PRODUCER_COMMAND_MS = 10_000;
const PRODUCER_CONNECT_MS = 2_000;
const WORKER_CONNECT_MS = 5_000;
const PING_MS = 5_000;
const CLAIM_S = 60;
/** A database, and the id of its queues. */
const CLAIM = /^(\S+) ([0-9a-f]{8})$/;
/** During a failover of a cluster, a command is repeated this often: a producer's 16 times, a worker's until it succeeds. */
const FAILOVER_RETRY_MS = 200;
/** The nodes of a cluster are read again this often, so that commands that wait for a node that hangs go to its replica. */
const SLOTS_REFRESH_MS = 5_000;

/**
 * Under Sentinel, a connection that waits for a reply for this time is opened again, because its server may hang while the
 * Sentinel has another master. Longer than BullMQ waits for a job, 10 s.
 */
const SENTINEL_SILENT_MS = 15_000;

// In a cluster, ioredis 6 sends ASKING before a command that a node redirects, and handles no failure of it, so a
// connection that ended there would end the process. The command itself is repeated.
const { asking } = Redis.prototype;
Redis.prototype.asking = function (this: Redis) {
  const reply = asking.call(this);
  reply.catch(() => {});
  return reply;
};

/** Major and minor version of the oldest Redis that the queues work with. */
export const MINIMUM_VERSION = [6, 2] as const;

/**
 * Opens the Redis of the URL. Reports connection errors to `onError` and reconnects after at most 3 s.
 * @throws UsageError if the URL is invalid, or if the prefix has no hash tag and Redis is a cluster
 */
export const openRedis = (
  redisUrl: string,
  { prefix, use, onError }: { prefix: string; use: 'producer' | 'worker'; onError: (error: Error) => void },
): RedisConnection => {
  const target = parseRedisUrl(redisUrl);
  if (target.kind === 'cluster' && !/\{[^}]+\}/.test(prefix)) {
    throw new UsageError(
      `QUEUE_PREFIX "${prefix}" has no {hash tag}: a cluster needs the queues of a run in one hash slot. Set QUEUE_PREFIX={${prefix}}.`,
    );
  }
  const worker = use === 'worker';
  let lastError: Error | undefined;
  /** Options of the connections that end already: with each further call, ioredis adds a listener to the socket. */
  const ending = new WeakSet<object>();
  function retryStrategy(this: object, times: number) {
    ending.delete(this);
    // The first attempt after a connection that was ready.
    if (client instanceof Redis && times === 1) forgetUnanswered(client);
    return Math.min(100 * 2 ** Math.min(times, 6), 3_000);
  }
  const options: RedisOptions = {
    ...target.options,
    // BullMQ requires null for workers, whose commands wait until Redis is back.
    maxRetriesPerRequest: worker ? null : PRODUCER_RETRIES,
    ...(worker ? {} : { commandTimeout: PRODUCER_COMMAND_MS }),
    ...(target.kind === 'sentinel' && { socketTimeout: SENTINEL_SILENT_MS }),
    connectTimeout: worker ? WORKER_CONNECT_MS : PRODUCER_CONNECT_MS,
    retryStrategy,
    // READONLY: the master is now a replica, so ioredis must find the new master.
    // EXECABORT: Redis did not run a transaction (memory full), but ioredis counts the scripts in it as loaded on this
    // connection. Without a new connection, every later flow would fail with NOSCRIPT.
    reconnectOnError(error) {
      if (error.message.startsWith('READONLY')) lastError = error;
      if (ending.has(this) || !/^(READONLY|EXECABORT)\b/.test(error.message)) return false;
      ending.add(this);
      return true;
    },
  };
  const client =
    target.kind === 'cluster'
      ? new Cluster(target.nodes, {
          redisOptions: options,
          // With it, `connect` of ioredis 6 never settles after the check has failed once, as it does during a failover, so
          // a worker of BullMQ that waits for it fetches no job again. Commands wait while the cluster is down.
          enableReadyCheck: false,
          clusterRetryStrategy: retryStrategy,
          ...(worker ? { maxRedirections: Number.MAX_SAFE_INTEGER } : {}),
          retryDelayOnFailover: FAILOVER_RETRY_MS,
          retryDelayOnClusterDown: FAILOVER_RETRY_MS,
          slotsRefreshInterval: SLOTS_REFRESH_MS,
          // Connects by the host names that the cluster announces, not by IP address, because TLS certificates contain
          // names.
          dnsLookup: (address, found) => found(null, address),
        })
      : new Redis(options);
  const servers = listServers(target);
  const explain = (error: Error | undefined) => explainSilence(servers, error, lastError);
  /** The error if the database number of the URL does not exist. */
  let noDatabase: Error | undefined;
  client.on('error', (error: Error) => {
    lastError = error;
    // If the database number does not exist, ioredis only emits this error, and continues in database 0.
    if (/DB index is out of range/.test(error.message)) noDatabase = error;
    onError(error);
  });
  let queueId = randomBytes(4).toString('hex');
  let wasReady = false;
  client.on('ready', () => {
    wasReady = true;
    lastError = undefined;
  });
  /** Throws at once if the connection is lost, instead of waiting for the next one. */
  const requireConnection = (): void => {
    if (wasReady && client.status !== 'ready') throw explain(undefined);
  };
  return {
    client,
    ping: async () => {
      requireConnection();
      const reply = await pTimeout(client.ping(), { milliseconds: PING_MS }).catch(coerceError);
      if (noDatabase !== undefined) throw explain(noDatabase);
      if (reply !== 'PONG') throw explain(reply instanceof Error ? reply : undefined);
    },
    check: async () => {
      await client.ping();
      if (noDatabase !== undefined) throw explain(noDatabase);
      const servers = client instanceof Cluster ? client.nodes('master') : [client];
      for (const server of servers) checkServer(await server.info());
    },
    probe: async (key) => {
      requireConnection();
      await client.set(key, '', 'EX', 60);
      // A node of a cluster that hangs would delay what the others answer.
      if (client instanceof Redis) checkServer(await client.info());
    },
    claim: async (key, database) => {
      if ((await client.set(key, `${database} ${queueId}`, 'EX', CLAIM_S, 'NX')) === 'OK') return queueId;
      const expiresMs = (await client.type(key)) === 'string' ? await client.pttl(key) : -1;
      const held = expiresMs >= 0 && expiresMs <= CLAIM_S * 1_000 ? await client.get(key) : null;
      // Somebody else wrote a claim of another form, or one that does not expire within a minute.
      const [, owner = database, id = queueId] = CLAIM.exec(held ?? '') ?? [];
      if (owner !== database) return undefined;
      // The id is that of all processes with these queues. If Redis comes back empty, the first process writes it again.
      queueId = id;
      await client.set(key, `${database} ${queueId}`, 'EX', CLAIM_S);
      return queueId;
    },
    release: async (key, database) => {
      if ((await client.get(key))?.startsWith(`${database} `)) await client.set(key, '', 'PX', 1);
    },
    close: async () => {
      client.disconnect();
    },
  };
};

/** How often a command is sent whose connection then ends: Redis ends it in place of each reply of more than 8 MB. */
const SENT_MAX = 4;

type Sent = { command: { reject: (error: Error) => void } };
const timesSent = new WeakMap<Sent['command'], number>();

/** Fails the commands without a reply that were sent `SENT_MAX` times, because ioredis would send them for ever. */
const forgetUnanswered = (client: Redis): void => {
  // ioredis sends these once more after it has connected.
  const { prevCommandQueue: queue } = client as unknown as { prevCommandQueue?: Sent[] };
  for (let left = queue?.length ?? 0; left > 0; left -= 1) {
    const sent = queue?.shift();
    if (sent === undefined) return;
    const times = (timesSent.get(sent.command) ?? 0) + 1;
    timesSent.set(sent.command, times);
    if (times < SENT_MAX) queue?.push(sent);
    else sent.command.reject(new Error(`Redis sends no reply: the connection ended ${SENT_MAX} times.`));
  }
};

/** Names the servers of REDIS_URL: `host:port`, separated by commas, and whether they use TLS. */
const listServers = (target: RedisTarget): string => {
  const { host = '', port = 0, sentinels = [{ host, port }] } = target.options;
  const servers = target.kind === 'cluster' ? target.nodes : sentinels;
  const named = servers.map((server) => `${server.host}:${server.port}`).join(', ');
  return target.options.tls === undefined ? named : `${named} with TLS`;
};

/**
 * @param servers as `listServers` returns them
 * @returns an error with the reason why Redis does not answer, without user and password
 */
const explainSilence = (
  servers: string,
  error: Error | undefined,
  last: Error | undefined,
): CatalogueError => {
  for (const each of [error, last]) {
    if (each === undefined || (each.name !== 'ReplyError' && findTlsFault(each) === undefined)) continue;
    const fault = explainServerFault(each);
    return new CatalogueError(
      fault === undefined
        ? `Redis refused: ${each.message.slice(0, 200)} Check REDIS_URL.`
        : `Failed because ${fault}`,
    );
  }
  const { code } = (last ?? error ?? {}) as NodeJS.ErrnoException;
  const why = typeof code === 'string' ? ` (${code})` : '';
  return new CatalogueError(
    `Redis does not answer at ${servers}${why}: check REDIS_URL, and that the server runs and has a connection left (maxclients).`,
  );
};

/** Checks the reply to INFO. @throws CatalogueError */
const checkServer = (info: string): void => {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const version = field('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor < MINIMUM_VERSION[1])) {
    throw new CatalogueError(
      `Redis ${version} is too old: the queues need ${MINIMUM_VERSION.join('.')} or newer.`,
    );
  }
  const policy = field('maxmemory_policy');
  if (policy === undefined || policy === 'noeviction') return;
  throw new CatalogueError(
    `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and loses jobs with them. Set it to noeviction: redis-cli config set maxmemory-policy noeviction, and the same in redis.conf.`,
  );
};
