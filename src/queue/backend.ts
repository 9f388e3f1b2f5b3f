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
  /** Rejects when the backend does not answer; on Redis within seconds. */
  ping: () => Promise<void>;
  /** Rejects when Redis does not accept writes: its memory is full, or it is a replica. On PostgreSQL it pings. */
  probe: () => Promise<void>;
  /** Is it fit for the queues? @returns warnings. @throws CatalogueError when it is not. A worker waits for it. */
  check: () => Promise<string[]>;
  /**
   * Free what is locked until a moment that has nothing to do with the database's clock: the worker that wrote it,
   * or all that are left, may never see it pass. @returns how many jobs. On Redis locks go by Redis's own clock.
   */
  freeAstrayLocks: () => Promise<number>;
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
    probe: async () => void (await redis.client.set(`${options.prefix}:probe`, '', 'EX', 60)),
    check: redis.check,
    freeAstrayLocks: async () => 0,
    close: redis.close,
  };
};

/** BullMQ's own schema in the database. */
const QUEUE_SCHEMA = 'bullmq';

/** Longer than any lock of ours (runner.ts), and than any of them is left once it has run out. */
const ASTRAY_MS = 60_000;

/** BullMQ tells locks, and when it last looked for stalled jobs, by the clocks of the workers. */
const FREE_ASTRAY_LOCKS = `
  with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms),
    looks as (
      delete from meta using clock
      where case when field = 'stalled-check' then abs(value::bigint - now_ms) > ${ASTRAY_MS} end)
  update job set locked_until_ms = 0 from clock
  where state = 'active' and locked_until_ms > 0 and abs(locked_until_ms - now_ms) > ${ASTRAY_MS}`;

/**
 * Each part of BullMQ asks for its schema before its first statement and keeps the answer (6.7), even if that was a
 * connection which broke: everything it is asked later fails with the same error, as long as the process lives. A
 * failure is forgotten here.
 */
const createLastingBackend: typeof createPostgresBackend = (name, options, more) => {
  const backend = createPostgresBackend(name, options, more);
  const askedAgain = (part: { waitUntilReady: () => Promise<void> }): void => {
    const ask = part.waitUntilReady.bind(part);
    part.waitUntilReady = () =>
      ask().catch((error: unknown) => {
        Object.assign(part, { readyPromise: undefined });
        throw error;
      });
  };
  askedAgain(backend);
  askedAgain(backend.connection);
  return backend;
};

/** Who only adds jobs and asks about them needs few connections. */
const POOL_MAX: Record<BackendOptions['role'], number> = { producer: 5, worker: 20 };

const openPostgres = (options: BackendOptions): QueueBackend => {
  const classes = withBackend(createLastingBackend);
  // One pool for all queues of the process. Each worker holds one client of it for LISTEN.
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    max: POOL_MAX[options.role],
    options: `-c search_path=${QUEUE_SCHEMA}`,
    application_name: 'catalogue queue',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  });
  // Every queue and worker of the process listens to this one pool.
  pool.setMaxListeners(0);
  pool.on('error', options.onError);
  // The pool hears of its idle clients alone: one that BullMQ holds and whose connection breaks would end the process.
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
