import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import type { ApplicationRow, ApplicationSettings } from '#db/queries/applications.ts';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { transact } from '#db/transact.ts';
import { jobs } from '#jobs/index.ts';
import { readConfig } from '#src/config.ts';
import type { JobDependencies } from '#src/ingest/dependencies.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { enqueueNextPage } from '#src/ingest/steps.ts';
import { createJobDependencies, type JobLimits } from '#src/processes/job-dependencies.ts';
import { openQueueBackend, type QueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { type Runner, startRunner } from '#src/queue/runner.ts';
import type { AddressSigner } from '#src/sample-application/signer.ts';
import { type SampleApplication, startSampleApplication } from '#src/sample-application/start.ts';
import { localClock } from '#test/support/clock.ts';
import { ACCESS_TOKEN, addApplication, anOpenRun, testKeys, webhooksAt } from '#test/support/factories.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { openAs } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

export type BackendKind = QueueBackend['kind'];

/** The backend of fleets, Redis; Postgres if no redis-server is installed. For tests whose subject is not the queue. */
export const fleetBackend = (): BackendKind => (inject('redisUrl') === null ? 'postgres' : 'redis');

/**
 * Runs the same tests on both backends, for tests whose subject is the queue. Without a redis-server those on Redis are
 * skipped; with CI set, the servers do not start without it.
 */
export const onBothBackends = (title: string, tests: (kind: BackendKind) => void): void => {
  const withoutRedis = inject('redisUrl') === null;
  if (withoutRedis)
    process.stderr.write(`${title}: skipped on Redis, because no redis-server is installed\n`);
  describe(`${title}, with the queue in Postgres`, () => tests('postgres'));
  describe.skipIf(withoutRedis)(`${title}, with the queue in Redis`, () => tests('redis'));
};

export type TestFleet = {
  sql: Database;
  databaseUrl: string;
  redisUrl: string | undefined;
  prefix: string;
  backend: QueueBackend;
  producer: Producer;
  deps: JobDependencies;
  /** Everything that was logged, at level trace. */
  log: () => string;
  /** Starts a worker in this process; it is stopped with the fleet if not before. */
  startWorker: () => Promise<Runner>;
  /** Starts a sample application and registers it; it is closed with the fleet. */
  addApplication: (
    application_id: string,
    games: number,
    settings?: Partial<ApplicationSettings>,
    signer?: AddressSigner,
  ) => Promise<{ application: ApplicationRow; server: SampleApplication }>;
  /** Opens a run and adds its first step. */
  startRun: (
    application_id: string,
    options?: { full?: boolean; accept_withdrawals?: boolean },
  ) => Promise<RunRow>;
  /** Waits for a run's end. */
  ended: (run_id: string) => Promise<RunRow>;
  /** A whole run. */
  sync: (
    application_id: string,
    options?: { full?: boolean; accept_withdrawals?: boolean },
  ) => Promise<RunRow>;
  /** Waits for a job's end, then reads it: what was read before lacks the end. */
  jobEnded: (definition: { name: string }, id: string | undefined) => Promise<Job>;
  /** Lose every job of the queue, as a flushed Redis does. */
  flushQueue: () => Promise<void>;
  /** Stops everything, but keeps the database. */
  disconnect: () => Promise<void>;
  stop: () => Promise<void>;
};

const DRAIN_MS = 5_000;

/** Between attempts a test waits milliseconds, not seconds. The number of attempts stays. */
const BACKOFF_MS = 5;

/** Applications of tests are on this machine, over plain HTTP. */
const LOOPBACK = readConfig({ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });

/** A fleet on a database and a queue of its own, without a worker until one is started. */
export const startTestFleet = async (kind: BackendKind, limits: JobLimits = {}): Promise<TestFleet> => {
  await using outer = new AsyncDisposableStack();
  const database = await createTestDatabase();
  outer.defer(database.drop);
  const { databaseUrl } = database;
  const started = outer.use(new AsyncDisposableStack());
  const sql = openDatabase(databaseUrl, { max: 10, applicationName: 'test fleet' });
  started.defer(() => sql.end());

  const own = openAs('worker', databaseUrl, 10);
  started.defer(() => own.end());

  const redisUrl = kind === 'redis' ? (inject('redisUrl') ?? undefined) : undefined;
  const prefix = `{test-${randomUUID()}}`;
  if (redisUrl !== undefined) started.defer(() => deleteKeys(redisUrl, prefix));
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  const logger = pino({ level: 'trace' }, sink);
  const onError = (error: Error) => logger.error({ error: error.message }, 'queue');
  const backend = openQueueBackend({ databaseUrl, redisUrl, prefix, use: 'worker', onError });
  started.defer(() => backend.close());
  const producer = createProducer(backend, jobSpecs, onError, { maxBackoffMs: BACKOFF_MS });
  started.defer(() => producer.close());

  const keys = testKeys;
  const deps = createJobDependencies(LOOPBACK, { sql: own, producer, keys }, started, {
    pageCap: 50,
    ...limits,
  });

  const all = outer.move();
  const startWorker = async () => {
    const runner = startRunner(backend, jobs, deps, localClock, logger, onError);
    let stopped: Promise<void> | undefined;
    const stop = (drainMs: number) => {
      stopped ??= runner.stop(drainMs);
      return stopped;
    };
    started.defer(() => stop(DRAIN_MS));
    await runner.ready();
    return { ...runner, stop };
  };
  const startRun: TestFleet['startRun'] = async (application_id, options) => {
    const run = await anOpenRun(sql, application_id, options);
    await enqueueNextPage(producer, run);
    return run;
  };
  const ended = (run_id: string) =>
    until(`run ${run_id} ends`, async () => {
      const run = await findRun(sql, run_id);
      return run?.finished_at === null ? undefined : run;
    });

  return {
    sql,
    databaseUrl,
    redisUrl,
    prefix,
    backend,
    producer,
    deps,
    log: () => lines.join(''),
    startWorker,
    addApplication: async (application_id, games, settings = {}, signer = undefined) => {
      const seed = application_id;
      const server = await startSampleApplication({ accessToken: ACCESS_TOKEN, games, seed, signer });
      started.defer(() => server.close());
      const application = await addApplication(sql, application_id, {
        ...webhooksAt(server.url),
        ...settings,
      });
      return { application, server };
    },
    startRun,
    ended,
    sync: async (application_id, options) => ended((await startRun(application_id, options)).run_id),
    jobEnded: async (definition, id = '') => {
      const queue = producer.queue(definition);
      await until(`job ${id} of ${definition.name} ends`, async () =>
        ['completed', 'failed'].includes(await queue.getJobState(id)),
      );
      return (await queue.getJob(id)) as Job;
    },
    flushQueue: () => (redisUrl === undefined ? truncateQueue(sql) : deleteKeys(redisUrl, prefix)),
    disconnect: () => started.disposeAsync(),
    stop: () => all.disposeAsync(),
  };
};

/**
 * A fleet for the tests of one file or `describe`: started before them, with this many workers, and stopped after them.
 * It is empty until then.
 */
export const useTestFleet = (kind: BackendKind, workers = 0): TestFleet => {
  const fleet = {} as TestFleet;
  beforeAll(async () => {
    Object.assign(fleet, await startTestFleet(kind));
    for (let started = 0; started < workers; started += 1) await fleet.startWorker();
  });
  afterAll(() => fleet.stop?.());
  return fleet;
};

const deleteKeys = async (redisUrl: string, prefix: string): Promise<void> => {
  const redis = new Redis(redisUrl);
  try {
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.del(keys);
  } finally {
    redis.disconnect();
  }
};

const truncateQueue = async (sql: Database): Promise<void> => {
  const tables = await sql<{ name: string }[]>`
    select format('bullmq.%I', tablename) as name from pg_tables
    where schemaname = 'bullmq' and tablename not in ('meta', 'migration')`;
  // Workers that write meanwhile lock the tables in another order.
  await transact(sql, (tx) => tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`));
};
