import {
  RedisConnection as BullConnection,
  createPostgresBackend,
  FlowProducer,
  type Processor,
  Queue,
  runMigrations,
  type Telemetry,
  Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import pg from 'pg';
import {
  CREATE_SEQUENCES,
  FREE_MISDATED_LOCKS,
  LIMIT_ROWS,
  LIST_DELAYED_AFTER,
} from '#src/queue/postgres-statements.ts';
import { MINIMUM_VERSION, openRedis, type RedisConnection } from '#src/queue/redis.ts';

/** The store of the queues: Redis or PostgreSQL. Only src/queue distinguishes the two. */
export type QueueBackend = {
  readonly kind: 'redis' | 'postgres';
  createQueue: (name: string) => Queue;
  createWorker: (name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>) => Worker;
  createFlowProducer: () => FlowProducer;
  /** Migrates the schema of the queue in PostgreSQL, and creates the sequence of each queue's job ids. Redis has none. */
  migrate: (queues?: readonly string[]) => Promise<void>;
  /** The client, for the API's rate limit; undefined on PostgreSQL. */
  redis: RedisConnection['client'] | undefined;
  /** Rejects if the backend does not answer; on Redis within seconds. */
  ping: () => Promise<void>;
  /** Rejects if Redis does not accept writes (full memory, a replica), or evicts keys. On PostgreSQL it pings. */
  probe: () => Promise<void>;
  /** Claims the queues for a minute. @returns a name that all processes have; undefined if another database has them */
  claim: (database: string) => Promise<string | undefined>;
  /** Ends the claim of a database at once, because it would otherwise last for a minute. */
  release: (database: string) => Promise<void>;
  /** @throws CatalogueError if Redis is too old, or evicts keys when its memory is full */
  check: () => Promise<void>;
  /**
   * Frees jobs whose lock expiry, which workers write by their own clocks, is far from the clock of PostgreSQL.
   * @returns the number of jobs; 0 on Redis, which expires locks by its own clock
   */
  freeMisdatedLocks: () => Promise<number>;
  /** The ids of a queue's delayed jobs that are due after this moment, in milliseconds since 1970. */
  listDelayedAfter: (queue: string, moment: number, skip: number, limit: number) => Promise<string[]>;
  close: () => Promise<void>;
};

export type BackendOptions = {
  databaseUrl: string;
  /** Undefined: the queues are in PostgreSQL (embedded default). */
  redisUrl?: string | undefined;
  /** Namespace of the queues in Redis. A cluster requires a hash tag: `{catalogue}`. */
  prefix: string;
  /** While the backend is unreachable, `producer` fails within seconds and `worker` waits. */
  use: 'producer' | 'worker';
  /** Stores the trace in each job. Undefined: no traces. */
  telemetry?: Telemetry | undefined;
  /** PostgreSQL cancels a statement of the queue that takes longer. */
  statementMs?: number;
  onError: (error: Error) => void;
};

/** Opens Redis if `redisUrl` is given, else BullMQ's PostgreSQL backend. */
export const openQueueBackend = (options: BackendOptions): QueueBackend =>
  options.redisUrl === undefined ? openPostgres(options) : openRedisBackend(options, options.redisUrl);

/** The classes of `withBackend` have different types, with the same methods. */
const asPlain = <T>(value: unknown): T => value as T;

/** BullMQ's scores of delayed jobs are milliseconds times this. */
const SCORES_A_MS = 0x1000;

/**
 * BullMQ reads the version of Redis when it opens a queue, and caches a failure, so every later command of the process then
 * fails with that error. So this check is off; BullMQ assumes the version that our own `check` requires.
 */
const WITHOUT_VERSION_CHECK = { skipVersionCheck: true };
BullConnection.minimumVersion = [...MINIMUM_VERSION, 0].join('.');

const openRedisBackend = (options: BackendOptions, redisUrl: string): QueueBackend => {
  const redis: RedisConnection = openRedis(redisUrl, options);
  const { prefix, use, telemetry } = options;
  const claimKey = `${prefix}:database`;
  const shared = {
    connection: redis.client,
    prefix,
    ...WITHOUT_VERSION_CHECK,
    ...(telemetry && { telemetry }),
  };
  const producing = { ...shared, skipWaitingForReady: use === 'producer' };
  return {
    kind: 'redis',
    createQueue: (name) => new Queue(name, producing),
    createWorker: (name, processor, own) => new Worker(name, processor, { ...shared, ...own }),
    createFlowProducer: () => new FlowProducer(producing),
    migrate: async () => {},
    redis: redis.client,
    ping: redis.ping,
    probe: () => redis.probe(`${prefix}:probe`),
    claim: (database) => redis.claim(claimKey, database).then((id) => id && `Redis ${prefix} ${id}`),
    release: (database) => redis.release(claimKey, database),
    check: redis.check,
    freeMisdatedLocks: async () => 0,
    listDelayedAfter: (queue, moment, skip, limit) =>
      redis.client.zrangebyscore(
        `${prefix}:${queue}:delayed`,
        moment * SCORES_A_MS,
        '+inf',
        'LIMIT',
        skip,
        limit,
      ),
    close: redis.close,
  };
};

const QUEUE_SCHEMA = 'bullmq';

/**
 * BullMQ 6.7 checks its schema once and caches the result, even an error of the connection, so every later statement then
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

const POOL_MAX: Record<BackendOptions['use'], number> = { producer: 5, worker: 20 };

/**
 * Switches sequential scans off, because after a backlog builds up stale statistics make Postgres choose one for each
 * fetch of a job. Every statement of BullMQ has an index.
 */
const BY_INDEX = '-c enable_seqscan=off';

/** As in db/client.ts, because a database or a role may have other defaults. */
const DEFAULTS =
  '-c default_transaction_isolation=read\\ committed -c lock_timeout=0 -c idle_session_timeout=0';

/** The timeout of a statement, as in db/client.ts. Migrations have none. */
const STATEMENT_MS = 60_000;

const openPostgres = (options: BackendOptions): QueueBackend => {
  const classes = withBackend(createRecoveringBackend);
  // The driver prefers the URL's `options` to ours, so one value has both, and the last search_path applies.
  const url = new URL(options.databaseUrl);
  const given = url.searchParams.get('options') ?? '';
  url.searchParams.delete('options');
  // One pool for all queues of the process. Each worker keeps one client of it for LISTEN.
  const pool = new pg.Pool({
    connectionString: url.href,
    max: POOL_MAX[options.use],
    options: `${given} -c search_path=${QUEUE_SCHEMA} ${BY_INDEX} ${DEFAULTS}`.trim(),
    // A session that waits for a notification runs no statement, so LISTEN is not limited.
    statement_timeout: options.statementMs ?? STATEMENT_MS,
    application_name: 'catalogue queue',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  });
  // Every queue and worker adds listeners.
  pool.setMaxListeners(0);
  pool.on('error', options.onError);
  // The pool reports errors of idle clients only; an unhandled error of another client would end the process.
  pool.on('connect', (client) => client.on('error', options.onError));
  const shared = { connection: pool as never, ...(options.telemetry && { telemetry: options.telemetry }) };
  const ping = async () => void (await pool.query('select 1'));
  return {
    kind: 'postgres',
    createQueue: (name) => asPlain(new classes.Queue(name, shared)),
    createWorker: (name, processor, own) =>
      asPlain(new classes.Worker(name, processor, { ...own, ...shared })),
    createFlowProducer: () => asPlain(new classes.FlowProducer(shared)),
    migrate: async (queues = []) => {
      const client = await pool.connect();
      try {
        await client.query('set statement_timeout = 0');
        await runMigrations(client, QUEUE_SCHEMA);
        // BullMQ creates a sequence at the first job of a queue, which a process that only adds jobs may not do.
        await client.query(CREATE_SEQUENCES, [queues]);
        await client.query(LIMIT_ROWS);
      } finally {
        // Not back into the pool, because its statements have no limit.
        client.release(true);
      }
    },
    redis: undefined,
    ping,
    probe: ping,
    claim: async () => 'Postgres',
    release: async () => {},
    check: async () => {},
    freeMisdatedLocks: async () => (await pool.query(FREE_MISDATED_LOCKS)).rowCount ?? 0,
    listDelayedAfter: async (queue, moment, skip, limit) =>
      (await pool.query(LIST_DELAYED_AFTER, [queue, Math.round(moment), limit, skip])).rows.map(
        ({ id }) => id,
      ),
    close: () => pool.end(),
  };
};
