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

/** Where the queues live. Nothing outside this file knows which backend it is (design, section 2). */
export type QueueBackend = {
  readonly kind: 'redis' | 'postgres';
  createQueue: (name: string, options?: Own<QueueOptions>) => Queue;
  createWorker: (name: string, processor: Processor, options: Own<WorkerOptions>) => Worker;
  createFlowProducer: (options?: Own<FlowProducerOptions>) => FlowProducer;
  /** Bring the queue's own schema up to date. Redis has none. */
  migrate: () => Promise<void>;
  /** The fleet's Redis, for what is no queue (rate limits counted together); undefined on PostgreSQL. */
  redis: RedisConnection['client'] | undefined;
  /** Does the backend answer? Rejects when it does not; on Redis within seconds. */
  ping: () => Promise<void>;
  /** Is it fit for the queues? @returns warnings. @throws CatalogueError when it is not. A worker waits for it. */
  check: () => Promise<string[]>;
  close: () => Promise<void>;
};

export type BackendOptions = {
  databaseUrl: string;
  /** Absent: the queues live in the database (embedded default). */
  redisUrl?: string | undefined;
  /** Namespace of the queues in Redis. On a cluster it carries a hash tag: `{catalogue}`. */
  prefix: string;
  /**
   * `producer` fails within seconds when the backend is away, so that a command can say so; `worker` waits for
   * it to come back.
   */
  role: 'producer' | 'worker';
  onError: (error: Error) => void;
};

/** Choose and open the queue backend: Redis when `redisUrl` is given, else BullMQ's PostgreSQL backend. */
export const openQueueBackend = (options: BackendOptions): QueueBackend =>
  options.redisUrl === undefined ? openPostgres(options) : openRedisBackend(options, options.redisUrl);

/**
 * `withBackend` types its classes by their backend, which makes a Postgres queue another type than a Redis
 * queue. What we call is the same for both, so both leave this file as plain BullMQ classes.
 */
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
    check: redis.check,
    close: redis.close,
  };
};

/** BullMQ's own schema in the database. */
const QUEUE_SCHEMA = 'bullmq';

const openPostgres = (options: BackendOptions): QueueBackend => {
  const classes = withBackend(createPostgresBackend);
  // One pool for all queues of the process. Each worker holds one client of it for LISTEN.
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    max: 20,
    options: `-c search_path=${QUEUE_SCHEMA}`,
    application_name: 'catalogue queue',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  });
  // Every queue and worker of the process listens to this one pool.
  pool.setMaxListeners(0);
  pool.on('error', options.onError);
  const connection = pool as never;
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
    ping: async () => {
      await pool.query('select 1');
    },
    check: async () => [],
    close: () => pool.end(),
  };
};
