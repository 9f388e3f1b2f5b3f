import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import { updateApplication } from '#db/queries/applications.ts';
import { openRun } from '#db/queries/runs.ts';
import { installTriggers } from '#db/triggers.ts';
import { enqueueNextStep } from '#jobs/query-game-list.ts';
import { openFoundation } from '#src/roles/foundation.ts';
import { addApplication } from '#test/support/factories.ts';
import { type FleetApplication, startFleetApplication } from './application.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { startWorkerProcess, type WorkerProcess } from './worker.ts';

/** Where databases come from, and what stands in them when a fault begins. */
export type Ground = {
  adminUrl: string;
  /** The clause after `create database <name>`: a migrated template. */
  template: string;
  /** Its applications have been synced once. */
  landed?: boolean;
  /** Cut all of Postgres down and start it again; undefined where it is not ours. */
  restartPostgres?: () => Promise<void>;
  /** Where it listens now. */
  postgresPort: () => number;
};

/** One fleet: a database, a Redis, applications, and a network between them that can be broken. */
export type World = {
  applications: FleetApplication[];
  first: FleetApplication;
  /** Past the network. */
  sql: Database;
  redis: Redis;
  databaseUrl: string;
  redisServer: RedisServer;
  toRedis: TcpProxy;
  toPostgres: TcpProxy;
  ground: Ground;
  env: Record<string, string>;
  startWorker: (options?: Parameters<typeof startWorkerProcess>[1]) => Promise<WorkerProcess>;
  workers: WorkerProcess[];
  /** Open a full run of every application and add its first step. */
  startRuns: () => Promise<void>;
  /** Wait until every run has ended. */
  quiet: (withinMs?: number) => Promise<void>;
  snapshot: () => Promise<Snapshot>;
  /** The most calls that one page or one game has had. */
  mostCalls: () => { key: string; count: number };
  [Symbol.asyncDispose]: () => Promise<void>;
};

const silent = pino({ level: 'silent' });
const POLL_MS = 20;
const QUIET_MS = 60_000;

export type WorldOptions = {
  applications?: number;
  games?: number;
  latencyMs?: number;
  redisArgs?: readonly string[];
};

/** Open a world. On landed ground, its applications have changed since they were synced. */
export const openWorld = async (ground: Ground, options: WorldOptions = {}): Promise<World> => {
  const { applications: count = 3, games = 120, latencyMs = 1 } = options;
  await using opened = new AsyncDisposableStack();
  const admin = opened.adopt(openDatabase(ground.adminUrl, { max: 1 }), (sql) => sql.end());
  const name = `fleet_${randomBytes(6).toString('hex')}`;
  await admin.unsafe(`create database ${name} ${ground.template}`);
  opened.defer(async () => void (await admin.unsafe(`drop database ${name} with (force)`)));
  const databaseUrl = Object.assign(new URL(ground.adminUrl), { pathname: name }).href;
  const sql = opened.adopt(openDatabase(databaseUrl, { max: 4, applicationName: 'world' }), (pool) =>
    pool.end({ timeout: 1 }),
  );
  if (ground.landed !== true) await installTriggers(sql);
  const redisServer = opened.use(
    await startRedisServer(options.redisArgs === undefined ? {} : { args: options.redisArgs }),
  );
  const toRedis = opened.use(await startProxy(() => redisServer.port));
  const toPostgres = opened.use(await startProxy(ground.postgresPort));
  const redis = opened.adopt(new Redis(redisServer.url), (client) => client.disconnect());
  redis.on('error', () => {});

  const applications: FleetApplication[] = [];
  for (let index = 0; index < count; index += 1) {
    const application_id = `app-${index}`;
    const application = opened.use(await startFleetApplication(application_id, { games, latencyMs }));
    await register(sql, application);
    if (ground.landed) change(application);
    applications.push(application);
  }
  const env = {
    // Seconds, where production waits half a minute.
    DATABASE_URL: `${toPostgres.through(databaseUrl)}?idle_in_transaction_session_timeout=2000`,
    REDIS_URL: toRedis.through(redisServer.url),
    QUEUE_PREFIX: '{fleet}',
    ENCRYPTION_KEYS: ENCRYPTION_KEYS,
    CATALOGUE_HOME: redisServer.directory,
  };
  const workers: WorkerProcess[] = [];
  const all = opened.move();
  const [first] = applications;
  if (first === undefined) throw new Error('a world has applications');
  return {
    applications,
    first,
    sql,
    redis,
    databaseUrl,
    redisServer,
    toRedis,
    toPostgres,
    ground,
    env,
    workers,
    startWorker: async (given) => {
      const start = async (): Promise<WorkerProcess> => {
        const worker = all.use(await startWorkerProcess(env, given));
        workers.push(worker);
        // As a fleet's supervisor does with what ends by itself.
        worker.exited.then((code) => {
          if (code !== null && code !== 0 && !all.disposed) start().catch(() => {});
        });
        return worker;
      };
      return start();
    },
    startRuns: () =>
      addRuns(
        databaseUrl,
        redisServer.url,
        applications.map(({ application_id }) => application_id),
      ),
    quiet: async (withinMs = QUIET_MS) => {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const open = await sql<{ application_id: string; fence: number; next_page: number }[]>`
          select application_id, fence, next_page from sync_runs where finished_at is null`.catch(() => [
          { application_id: 'no answer' },
        ]);
        if (open.length === 0) return;
        if (Date.now() > deadline)
          throw new Error(
            `not quiet after ${withinMs} ms: ${JSON.stringify(await describeStandstill(sql, redis, open))}`,
          );
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
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

/** What holds everything up: sessions that do something, and the keys of jobs that have not ended. */
const describeStandstill = async (sql: Database, redis: Redis, open: unknown) => {
  const sessions = await sql`
    select pid, state, wait_event, left(query, 80) as query, pg_blocking_pids(pid)::text as waits_for
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.catch(
    () => 'no answer',
  );
  const lists = await redis.keys('{fleet}:query-game-*:*');
  const states: Record<string, unknown> = {};
  for (const key of lists) {
    if (/:(active|wait|stalled)$/.test(key))
      states[key] = await (key.endsWith('stalled') ? redis.smembers(key) : redis.lrange(key, 0, -1));
    if (/:(delayed|waiting-children)$/.test(key)) states[key] = await redis.zrange(key, '0', '-1');
    if (key.endsWith(':lock')) states[key] = await redis.pttl(key);
  }
  return { open, sessions, states };
};

/** As `catalogue sync` does. */
const addRuns = async (databaseUrl: string, redisUrl: string, application_ids: readonly string[]) => {
  await using foundation = openFoundation({ redisUrl, queuePrefix: '{fleet}' }, databaseUrl, {
    role: 'producer',
    name: 'world',
    maxConnections: 2,
    logger: silent,
  });
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
const change = ({ catalogue }: FleetApplication): void => {
  const games = catalogue.all();
  for (const { game_id, game_name } of games.filter((_, index) => index % 10 === 5))
    catalogue.update(game_id, { game_name: `${game_name}, revised` });
  for (const { game_id } of games.slice(0, 3)) catalogue.remove(game_id);
  const [, , , model] = games;
  if (model === undefined) return;
  for (const index of [1, 2, 3]) catalogue.add({ ...model, game_id: `new-${index}` });
};

const register = async (sql: Database, { application_id, url }: FleetApplication): Promise<void> => {
  const webhooks = {
    query_game_list_webhook: `${url}/query_game_list`,
    query_game_detail_webhook: `${url}/query_game_detail`,
    query_cp_kyc_webhook: `${url}/query_cp_kyc`,
  };
  if (!(await updateApplication(sql, application_id, webhooks)))
    await addApplication(sql, application_id, webhooks);
};

/**
 * Sync the applications once, undisturbed, and make that the ground others begin on.
 * @returns the ground, and what its tables hold after one more undisturbed run: what every fault is held against
 */
export const landOnce = async (
  ground: Ground,
  options: WorldOptions = {},
): Promise<{ ground: Ground; expected: Snapshot; [Symbol.asyncDispose]: () => Promise<void> }> => {
  const name = `landed_${randomBytes(6).toString('hex')}`;
  const asAdmin = async (statement: string) => {
    const admin = openDatabase(ground.adminUrl, { max: 1 });
    await admin.unsafe(statement);
    await admin.end();
  };
  {
    await using world = await openWorld(ground, options);
    const worker = await world.startWorker();
    await world.startRuns();
    await world.quiet();
    await worker.stop();
    await world.sql.end();
    await asAdmin(`create database ${name} template ${new URL(world.databaseUrl).pathname.slice(1)}`);
  }
  const landed = { ...ground, template: `template ${name}`, landed: true };
  await using world = await openWorld(landed, options);
  await world.startWorker();
  await world.startRuns();
  await world.quiet();
  return {
    ground: landed,
    expected: await world.snapshot(),
    [Symbol.asyncDispose]: () => asAdmin(`drop database ${name} with (force)`),
  };
};
