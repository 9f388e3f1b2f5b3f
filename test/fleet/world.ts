import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '#db/client.ts';
import { type FleetApplication, startFleetApplication } from '#test/fleet/application.ts';
import type { RedisCluster } from '#test/fleet/redis-cluster.ts';
import type { RedisSentinel } from '#test/fleet/redis-sentinel.ts';
import type { SmallDisk } from '#test/fleet/small-disk.ts';
import { type Snapshot, takeSnapshot } from '#test/fleet/snapshot.ts';
import { PATIENT, startWorkerProcess, type WorkerProcess } from '#test/fleet/worker.ts';
import { changeGames, register } from '#test/fleet/world-applications.ts';
import {
  openClusterQueue,
  openPostgresQueue,
  openRedisQueue,
  openSentinelQueue,
  type RedisSide,
  type WorldQueue,
} from '#test/fleet/world-queue.ts';
import { addRuns, describeStandstill } from '#test/fleet/world-runs.ts';
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
    if (ground.landed) changeGames(application);
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

/** The key of test/support/factories.ts, as a worker process is given it. */
const ENCRYPTION_KEYS = `test:${createHash('sha256').update('the key of the tests').digest('base64')}`;
