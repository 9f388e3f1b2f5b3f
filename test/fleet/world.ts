import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import { enqueueNextStep, openRun } from '#src/ingest/steps.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { type FleetApplication, startFleetApplication } from '#test/fleet/application.ts';
import type { RedisCluster } from '#test/fleet/redis-cluster.ts';
import type { RedisSentinel } from '#test/fleet/redis-sentinel.ts';
import type { SmallDisk } from '#test/fleet/small-disk.ts';
import { type Snapshot, takeSnapshot } from '#test/fleet/snapshot.ts';
import { PATIENT, startWorkerProcess, type WorkerProcess } from '#test/fleet/worker.ts';
import {
  openClusterQueue,
  openPostgresQueue,
  openRedisQueue,
  openSentinelQueue,
  QUEUE_PREFIX,
  type RedisSide,
  type WorldQueue,
} from '#test/fleet/world-queue.ts';
import { addApplication, moveWebhooks } from '#test/support/factories.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';

/** Where databases come from, and what stands in them when a fault begins. */
export type Ground = {
  adminUrl: string;
  /** The clause after `create database <name>`: a migrated template. */
  template: string;
  /** Its applications have been synced once. */
  landed?: boolean;
  /** Cuts all of Postgres down and starts it again; undefined where it is not ours. */
  restartPostgres?: () => Promise<void>;
  /** Makes a small disk for one database; undefined where that can't be done. */
  openSmallDisk?: () => Promise<SmallDisk>;
  /** Sets Postgres's clock by so many hours from the machine's; undefined where that cannot be done. */
  moveClock?: (hours: number) => Promise<void>;
  /** What Postgres has said; undefined if it is not kept. */
  postgresLog?: () => string;
  /** Where it listens now. */
  postgresPort: () => number;
};

/** One fleet: a database, queues, applications, and a network between them that can be broken. */
export type World = {
  applications: FleetApplication[];
  first: FleetApplication;
  /** Past the network. */
  sql: Database;
  databaseUrl: string;
  toPostgres: TcpProxy;
  queue: WorldQueue;
  /** The queue's Redis. @throws in a world that has none */
  redis: RedisSide;
  /** The queue's cluster. @throws in a world that has none */
  cluster: RedisCluster;
  /** The Sentinel of the queue. @throws in a world that has none */
  sentinel: RedisSentinel;
  /** What the database lies on, if the world asked for a small one. @throws in a world that did not */
  disk: SmallDisk;
  ground: Ground;
  env: Record<string, string>;
  startWorker: (options?: Parameters<typeof startWorkerProcess>[1]) => Promise<WorkerProcess>;
  workers: WorkerProcess[];
  /** Keeps something until the world ends. */
  use: <T extends AsyncDisposable>(resource: T) => T;
  /** How many workers have ended by themselves, with an error. */
  crashes: () => number;
  /** Opens a full run of every application and adds its first step. */
  startRuns: () => Promise<void>;
  /** Waits until every run has ended. */
  quiet: (withinMs?: number) => Promise<void>;
  snapshot: () => Promise<Snapshot>;
  /** The most calls that one page or one game has had. */
  mostCalls: () => { key: string; count: number };
  [Symbol.asyncDispose]: () => Promise<void>;
};

const silent = pino({ level: 'silent' });
/** Many worlds share a machine: a long wait polls less often. */
const POLL_MS = { first: 20, most: 1_000 };
/** Production's, and seconds. */
const SESSION_IDLE_MS = { patient: 30_000, fast: 2_000 };
const QUIET_MS = { patient: 15 * 60_000, fast: 180_000 };
/** A supervisor's delay before it starts a process again. */
const RESTART_MS = 500;

export type WorldOptions = {
  queue?: WorldQueue['kind'];
  applications?: number;
  games?: number;
  latencyMs?: number;
  redisArgs?: readonly string[];
  /** What the queues are in: one Redis (the default), a Redis Cluster, or a Redis with a replica and a Sentinel. */
  redisForm?: 'cluster' | 'sentinel';
  /** Lay the database on a disk that can be filled. */
  smallDisk?: boolean;
  /** Waits closer to production's, for servers that answer late and for machines that many worlds share. */
  patient?: boolean;
};

/** Opens a world. On landed ground, its applications have changed since they were synced. */
export const openWorld = async (ground: Ground, options: WorldOptions = {}): Promise<World> => {
  const { applications: count = 3, games = 120, latencyMs = 1, queue: kind = 'redis' } = options;
  await using opened = new AsyncDisposableStack();
  const admin = opened.adopt(openDatabase(ground.adminUrl, { max: 1 }), (sql) => sql.end());
  const name = `fleet_${randomBytes(6).toString('hex')}`;
  const disk = options.smallDisk ? await ground.openSmallDisk?.() : undefined;
  if (disk !== undefined) opened.use(disk);
  await admin.unsafe(`create database ${name} ${ground.template} ${disk?.clause ?? ''}`);
  opened.defer(() => dropDatabase(admin, name));
  const databaseUrl = Object.assign(new URL(ground.adminUrl), { pathname: name }).href;
  const sql = opened.adopt(openDatabase(databaseUrl, { max: 4, applicationName: 'world' }), (pool) =>
    pool.end({ timeout: 1 }),
  );
  const toPostgres = opened.use(await startProxy(ground.postgresPort));
  const openQueue = (): Promise<WorldQueue> => {
    if (kind === 'postgres') return openPostgresQueue(sql, databaseUrl, toPostgres);
    if (options.redisForm === 'cluster') return openClusterQueue(opened);
    if (options.redisForm === 'sentinel') return openSentinelQueue(opened);
    return openRedisQueue(opened, options.redisArgs);
  };
  const queue = await openQueue();
  const home = opened.adopt(await mkdtemp(join(tmpdir(), 'catalogue-world-')), (directory) =>
    rm(directory, { recursive: true, force: true }),
  );

  const applications: FleetApplication[] = [];
  for (let index = 0; index < count; index += 1) {
    const application_id = `app-${index}`;
    const application = opened.use(await startFleetApplication(application_id, { games, latencyMs }));
    await register(sql, application);
    if (ground.landed) change(application);
    applications.push(application);
  }
  const env = {
    DATABASE_URL: `${toPostgres.through(databaseUrl)}?idle_in_transaction_session_timeout=${options.patient ? SESSION_IDLE_MS.patient : SESSION_IDLE_MS.fast}`,
    ...queue.env,
    ENCRYPTION_KEYS: ENCRYPTION_KEYS,
    CATALOGUE_HOME: home,
  };
  const workers: WorkerProcess[] = [];
  // A supervisor may be in the middle of starting one.
  const over = new AbortController();
  let crashes = 0;
  opened.defer(() => over.abort());
  const all = opened.move();
  const [first] = applications;
  if (first === undefined) throw new Error('a world has applications');
  return {
    applications,
    first,
    sql,
    databaseUrl,
    toPostgres,
    queue,
    get redis() {
      if (queue.redis === undefined) throw new Error('this world has no Redis');
      return queue.redis;
    },
    get cluster() {
      if (queue.cluster === undefined) throw new Error('this world has no cluster');
      return queue.cluster;
    },
    get sentinel() {
      if (queue.sentinel === undefined) throw new Error('this world has no Sentinel');
      return queue.sentinel;
    },
    get disk() {
      if (disk === undefined) throw new Error('this world has no small disk');
      return disk;
    },
    ground,
    env,
    workers,
    use: (resource) => all.use(resource),
    crashes: () => crashes,
    startWorker: async (given) => {
      const timing = { ...(options.patient ? PATIENT : {}), ...given?.timing };
      const start = async (): Promise<WorkerProcess> => {
        const worker = all.use(await startWorkerProcess(env, { ...given, timing, signal: over.signal }));
        workers.push(worker);
        worker.exited.then((code) => {
          if (code === null || code === 0) return;
          crashes += 1;
          return restart();
        });
        return worker;
      };
      // As a fleet's supervisor does with what ends by itself, and again while what it needs is still down.
      const restart = async (): Promise<void> => {
        while (!over.signal.aborted) {
          try {
            await start();
            return;
          } catch {
            await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
          }
        }
      };
      // On a busy machine Postgres may not answer a process that starts: its supervisor starts it again.
      return start().catch(start);
    },
    startRuns: () =>
      addRuns(
        databaseUrl,
        queue.redisUrl,
        applications.map(({ application_id }) => application_id),
      ),
    quiet: async (withinMs = options.patient ? QUIET_MS.patient : QUIET_MS.fast) => {
      const deadline = Date.now() + withinMs;
      for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * 1.2, POLL_MS.most)) {
        const open = await sql<{ application_id: string; fence: number; next_page: number }[]>`
          select application_id, fence, next_page from sync_runs where finished_at is null`.catch(() => [
          { application_id: 'no answer' },
        ]);
        if (open.length === 0) return;
        if (Date.now() > deadline)
          throw new Error(
            `not quiet after ${withinMs} ms: ${JSON.stringify(await describeStandstill(sql, queue, open))}`,
          );
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
    },
    snapshot: () => takeSnapshot(sql),
    mostCalls: () => {
      const all = applications.flatMap(({ counts }) => [...counts]);
      const [key = '', times = 0] = all.toSorted((a, b) => b[1] - a[1])[0] ?? [];
      return { key, count: times };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};

/** Drops it again if a session of it has not ended within the 5 s of Postgres, as on a busy machine. */
const dropDatabase = async (admin: Database, name: string): Promise<void> => {
  const drop = () => admin.unsafe(`drop database ${name} with (force)`);
  await drop().catch(drop);
};

/** What holds everything up: sessions that do something, and jobs that have not ended. */
const describeStandstill = async (sql: Database, queue: WorldQueue, open: unknown) => {
  const sessions = await sql`
    select pid, state, wait_event, left(query, 80) as query, pg_blocking_pids(pid)::text as waits_for
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.catch(
    () => 'no answer',
  );
  return { open, sessions, jobs: await queue.describe() };
};

/** The queues of a world, past its network. */
export const openProducer = (databaseUrl: string, redisUrl: string | undefined) =>
  openFoundation({ redisUrl, queuePrefix: QUEUE_PREFIX }, databaseUrl, {
    use: 'producer',
    name: 'world',
    maxConnections: 2,
    logger: silent,
  });

/** As `catalogue sync` does. */
const addRuns = async (
  databaseUrl: string,
  redisUrl: string | undefined,
  application_ids: readonly string[],
) => {
  await using foundation = openProducer(databaseUrl, redisUrl);
  for (const application_id of application_ids) {
    const { run } = await openRun(foundation.sql, {
      run_id: randomUUIDv7(),
      application_id,
      trigger: 'manual',
      full: true,
      accept_withdrawals: false,
    });
    await enqueueNextStep(foundation.producer, run, false);
  }
};

/** The key of test/support/factories.ts, as a worker process is given it. */
const ENCRYPTION_KEYS = `test:${createHash('sha256').update('the key of the tests').digest('base64')}`;

/** The applications' own changes between the first run and the one that is disturbed. */
const change = ({ games }: FleetApplication): void => {
  const before = games.all();
  for (const { game_id, game_name } of before.filter((_, index) => index % 10 === 5))
    games.update(game_id, { game_name: `${game_name}, revised` });
  for (const { game_id } of before.slice(0, 3)) games.remove(game_id);
  const [, , , model] = before;
  if (model === undefined) return;
  for (const index of [1, 2, 3]) games.add({ ...model, game_id: `new-${index}` });
};

export const webhooksAt = (url: string) => ({
  query_game_list_webhook: `${url}/query_game_list`,
  query_game_detail_webhook: `${url}/query_game_detail`,
  query_cp_kyc_webhook: `${url}/query_cp_kyc`,
});

const register = async (sql: Database, { application_id, url }: FleetApplication): Promise<void> => {
  const webhooks = webhooksAt(url);
  if (!(await moveWebhooks(sql, application_id, webhooks)))
    await addApplication(sql, application_id, webhooks);
};
