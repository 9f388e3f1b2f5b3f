import {
  createPostgresBackend,
  FlowProducer,
  type FlowProducerOptions,
  type Processor,
  Queue,
  type QueueOptions,
  runMigrations,
  Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import pg from 'pg';
import { openRedis, type RedisConnection } from '#src/queue/redis.ts';

type Own<Options> = Omit<Options, 'connection' | 'prefix'>;

/** The store of the queues: Redis or PostgreSQL. Only src/queue distinguishes the two. */
export type QueueBackend = {
  readonly kind: 'redis' | 'postgres';
  createQueue: (name: string, options?: Own<QueueOptions>) => Queue;
  createWorker: (name: string, processor: Processor, options: Own<WorkerOptions>) => Worker;
  createFlowProducer: (options?: Own<FlowProducerOptions>) => FlowProducer;
  /** Migrates the schema of the queue in PostgreSQL. */
  migrate: () => Promise<void>;
  /** The client, for the API's rate limit; undefined on PostgreSQL. */
  redis: RedisConnection['client'] | undefined;
  /** Rejects if the backend does not answer; on Redis within seconds. */
  ping: () => Promise<void>;
  /** Rejects if Redis does not accept writes: its memory is full, or it is a replica. On PostgreSQL it pings. */
  probe: () => Promise<void>;
  /** Checks the version and settings of Redis. @returns warnings. @throws CatalogueError if it is too old */
  check: () => Promise<string[]>;
  /**
   * Frees jobs whose lock expiry, which workers write by their own clocks, is far from the clock of PostgreSQL.
   * @returns the number of jobs; 0 on Redis, which expires locks by its own clock
   */
  freeAstrayLocks: () => Promise<number>;
  close: () => Promise<void>;
};

export type BackendOptions = {
  databaseUrl: string;
  /** Undefined: the queues are in PostgreSQL (embedded default). */
  redisUrl?: string | undefined;
  /** Namespace of the queues in Redis. A cluster requires a hash tag: `{catalogue}`. */
  prefix: string;
  /** While the backend is unreachable, `producer` fails within seconds and `worker` waits. */
  role: 'producer' | 'worker';
  onError: (error: Error) => void;
};

/** Opens Redis if `redisUrl` is given, else BullMQ's PostgreSQL backend. */
export const openQueueBackend = (options: BackendOptions): QueueBackend =>
  options.redisUrl === undefined ? openPostgres(options) : openRedisBackend(options, options.redisUrl);

/** The classes of `withBackend` have different types, with the same methods. */
const asPlain = <T>(value: unknown): T => value as T;

const openRedisBackend = (options: BackendOptions, redisUrl: string): QueueBackend => {
  const redis: RedisConnection = openRedis(redisUrl, options);
  const shared = {
    connection: redis.client,
    prefix: options.prefix,
    skipWaitingForReady: options.role === 'producer',
  };
  return {
    kind: 'redis',
    createQueue: (name, own) => new Queue(name, { ...shared, ...own }),
    createWorker: (name, processor, own) =>
      new Worker(name, processor, { connection: redis.client, prefix: options.prefix, ...own }),
    createFlowProducer: (own) => new FlowProducer({ ...shared, ...own }),
    migrate: async () => void (await redis.check()),
    redis: redis.client,
    ping: redis.ping,
    probe: async () => void (await redis.client.set(`${options.prefix}:probe`, '', 'EX', 60)),
    check: redis.check,
    freeAstrayLocks: async () => 0,
    close: redis.close,
  };
};

const QUEUE_SCHEMA = 'bullmq';

/** Longer than any lock (runner.ts). */
const ASTRAY_MS = 60_000;

const FREE_ASTRAY_LOCKS = `
  with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms),
    looks as (
      delete from meta using clock
      where case when field = 'stalled-check' then abs(value::bigint - now_ms) > ${ASTRAY_MS} end)
  update job set locked_until_ms = 0 from clock
  where state = 'active' and locked_until_ms > 0 and abs(locked_until_ms - now_ms) > ${ASTRAY_MS}`;

/**
 * BullMQ 6.7 checks its schema once and caches the result, even an error of the connection: every later statement then
 * fails with that error. This clears an error.
 */
const createRecoveringBackend: typeof createPostgresBackend = (name, options, more) => {
  const backend = createPostgresBackend(name, options, more);
  const clearFailure = (part: { waitUntilReady: () => Promise<void> }): void => {
    const waitUntilReady = part.waitUntilReady.bind(part);
    part.waitUntilReady = () =>
      waitUntilReady().catch((error: unknown) => {
        Object.assign(part, { readyPromise: undefined });
        throw error;
      });
  };
  clearFailure(backend);
  clearFailure(backend.connection);
  return backend;
};

const POOL_MAX: Record<BackendOptions['role'], number> = { producer: 5, worker: 20 };

const openPostgres = (options: BackendOptions): QueueBackend => {
  const classes = withBackend(createRecoveringBackend);
  // One pool for all queues of the process. Each worker keeps one client of it for LISTEN.
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    max: POOL_MAX[options.role],
    options: `-c search_path=${QUEUE_SCHEMA}`,
    application_name: 'catalogue queue',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  });
  // Every queue and worker adds listeners.
  pool.setMaxListeners(0);
  pool.on('error', options.onError);
  // The pool reports errors of idle clients only; an unhandled error of another client would end the process.
  pool.on('connect', (client) => client.on('error', options.onError));
  const connection = pool as never;
  const ping = async () => void (await pool.query('select 1'));
  return {
    kind: 'postgres',
    createQueue: (name, own) => asPlain(new classes.Queue(name, { ...own, connection })),
    createWorker: (name, processor, own) =>
      asPlain(new classes.Worker(name, processor, { ...own, connection })),
    createFlowProducer: (own) => asPlain(new classes.FlowProducer({ ...own, connection })),
    migrate: async () => {
      const client = await pool.connect();
      try {
        await runMigrations(client, QUEUE_SCHEMA);
      } finally {
        client.release();
      }
    },
    redis: undefined,
    ping,
    probe: ping,
    check: async () => [],
    freeAstrayLocks: async () => (await pool.query(FREE_ASTRAY_LOCKS)).rowCount ?? 0,
    close: () => pool.end(),
  };
};
