// A server that answers and accepts no writes: gauges, /readyz and commands say so, and say what to do.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { readBlocking } from '#db/queries/connections.ts';
import { explainError } from '#src/cli/kit/explain-error.ts';
import { noteBlockers } from '#src/cli/kit/note-blockers.ts';
import { readConfig } from '#src/config.ts';
import { coerceError } from '#src/errors.ts';
import { deliverEvent } from '#src/ingest/specs.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { startKycDesk } from '#src/processes/kyc-desk.ts';
import { startMetrics } from '#src/processes/metrics.ts';
import { startParts } from '#src/processes/start-parts.ts';
import { scrape } from '#test/support/fleet-process.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const logger = pino({ level: 'silent' });

const withRedis = test.skipIf(inject('redisUrl') === null);

/** The metrics server of a process, with a Redis of its own. */
const aProcess = async (databaseUrl: string) => {
  const redis = await startRedisServer();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const config = readConfig({ DATABASE_URL: databaseUrl, REDIS_URL: redis.url, METRICS_PORT: '0' });
  const metrics = await startMetrics(config, databaseUrl, logger, {
    name: 'worker',
    fault: () => undefined,
    pools: () => [],
  });
  onTestFinished(metrics.stop);
  const read = async () => {
    const samples = await scrape(`${metrics.address}/metrics`);
    const ready = await fetch(`${metrics.address}/readyz`);
    return {
      queueUp: samples.get('catalogue_queue_up{process="worker"}'),
      databaseUp: samples.get('catalogue_database_up{process="worker"}'),
      blockers: [...samples.keys()].filter((series) => series.includes('blocking_seconds{')).length,
      ready: ready.status,
      text: await ready.text(),
    };
  };
  return { redis, config, read };
};

withRedis('a Redis whose memory is full is not up, though it answers, and a command names it', async () => {
  const { redis, config, read } = await aProcess(database.databaseUrl);
  expect(await read()).toMatchObject({ queueUp: 1, databaseUp: 1, ready: 200 });
  const admin = new Redis(redis.url);
  onTestFinished(() => admin.disconnect());
  await admin.config('SET', 'maxmemory', '1mb');
  expect(await read()).toMatchObject({
    queueUp: 0,
    databaseUp: 1,
    ready: 503,
    text: 'worker: not ready: the memory of Redis is full (OOM). Raise maxmemory. catalogue queue status shows which queue is long.\n',
  });
  const options = { use: 'producer', name: 'test', maxConnections: 1, logger } as const;
  await using foundation = openFoundation(config, database.databaseUrl, options);
  const refused = await foundation.producer
    .add(deliverEvent, { application_id: 'acme' })
    .catch((thrown: unknown) => explainError(coerceError(thrown)));
  expect(refused).toBe(
    'Failed because the memory of Redis is full (OOM). Raise maxmemory. catalogue queue status shows which queue is long.',
  );
  await admin.config('SET', 'maxmemory', '0');
  expect(await read()).toMatchObject({ queueUp: 1, ready: 200 });
});

withRedis(
  'a table that is locked leaves Postgres up, and the metrics name the login that blocks',
  async () => {
    const { read } = await aProcess(database.databaseUrl);
    const waiting = await database.sql.begin(async (tx) => {
      await tx`lock table applications`;
      const blocked = database.sql`select from applications`.execute();
      await until('a session waits', async () => (await readBlocking(database.sql)).length > 0);
      expect(await read()).toMatchObject({ databaseUp: 1, ready: 200, blockers: 1 });
      return { blocked };
    });
    await waiting.blocked;
  },
);

withRedis(
  'a process whose own pool gets no connection is not ready, though its metrics have theirs',
  async () => {
    const redis = await startRedisServer();
    onTestFinished(() => redis[Symbol.asyncDispose]());
    const { sql, databaseUrl } = database;
    const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, KYC_DESK_PORT: '0', METRICS_PORT: '0' };
    const url = urlOfRole(databaseUrl, 'kyc_desk');
    const desk = await startParts('kyc-desk', [startKycDesk], readConfig(env), url, logger);
    onTestFinished(desk.stop);
    const isReady = async () => {
      const answer = await fetch(new URL('/readyz', desk.metrics));
      return `${answer.status} ${await answer.text()}`;
    };
    await until('it is ready', async () => (await isReady()) === '200 kyc-desk: ready\n', 20_000);
    const name = new URL(databaseUrl).pathname.slice(1);
    await sql`alter database ${sql(name)} connection limit 0`;
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'catalogue kyc-desk'`;
    // The first answers may tell of the connections that were ended.
    await expect
      .poll(isReady)
      .toBe(
        '503 kyc-desk: not ready: Postgres accepts no further connection to this database (53300). Raise the limit of the database: alter database … connection limit -1.\n',
      );
    await sql`alter database ${sql(name)} connection limit -1`;
    await until('it is ready again', async () => (await isReady()).startsWith('200'), 20_000);
  },
);

withRedis(
  'a Redis that has no connection left for this process is not said to be gone or frozen alone',
  async () => {
    const { redis, config, read } = await aProcess(database.databaseUrl);
    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    await admin.config('SET', 'maxclients', '1');
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until('its connection is lost', async () => (await read()).queueUp === 0);
    for (let look = 0; look < 3; look += 1) expect((await read()).text).toContain('maxclients');
    const options = { use: 'producer', name: 'test', maxConnections: 1, logger } as const;
    await using foundation = openFoundation(config, database.databaseUrl, options);
    const refused = await foundation.producer
      .add(deliverEvent, { application_id: 'acme' })
      .catch((thrown: unknown) => explainError(coerceError(thrown)));
    expect(refused).toContain('maxclients');
  },
);

withRedis('a server that is gone is named', async () => {
  const { redis, read } = await aProcess(database.databaseUrl);
  expect(await read()).toMatchObject({ ready: 200 });
  await redis.end();
  const { queueUp, text } = await read();
  expect(queueUp).toBe(0);
  expect(text).toMatch(
    /^worker: not ready: Redis does not answer at 127.0.0.1:\d+( \(\w+\))?: check REDIS_URL, /,
  );
});

withRedis(
  'a Postgres that is gone stays named: the driver waits ever longer before it connects again, which is no frozen server',
  async () => {
    const { read } = await aProcess('postgres://127.0.0.1:1/none');
    for (let look = 0; look < 6; look += 1)
      expect((await read()).text).toMatch(
        /^worker: not ready: Postgres is unreachable \(ECONNREFUSED\)\. Check/,
      );
  },
);

withRedis('a Postgres that lets no connection in is not said to accept connections', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const { read } = await aProcess(`postgres://127.0.0.1:${port}/none`);
  expect((await read()).text).toMatch(/^worker: not ready: Postgres is unreachable \(CONNECT_TIMEOUT\)\./);
});

withRedis('a Postgres that is read-only is not up, though it answers', async () => {
  const url = new URL(database.databaseUrl);
  url.searchParams.set('default_transaction_read_only', 'on');
  const { read } = await aProcess(url.href);
  expect(await read()).toMatchObject({ queueUp: 1, databaseUp: 0, ready: 503 });
  expect((await read()).text).toMatch(
    /Postgres is read-only \(25006\).* the database or the server \(alter database/,
  );
});

withRedis('a Redis that takes no write is named, though it answers PING', async () => {
  const { redis, read } = await aProcess(database.databaseUrl);
  const admin = new Redis(redis.url);
  onTestFinished(() => admin.disconnect());
  await admin.client('PAUSE', 60_000, 'WRITE');
  expect(await read()).toMatchObject({
    queueUp: 0,
    databaseUp: 1,
    ready: 503,
    text: 'worker: not ready: Redis accepts connections, and takes no write within 3 s. It is frozen, its writes are paused (CLIENT UNPAUSE ends that), or no connection is left (maxclients).\n',
  });
  await admin.client('UNPAUSE');
  expect(await read()).toMatchObject({ queueUp: 1, ready: 200 });
});

withRedis(
  'a Postgres whose commits wait for a standby is not up, and a command says what it waits for',
  async () => {
    await using postgres = await startTemporaryPostgres();
    const url = new URL(postgres.databaseUrl);
    url.searchParams.set('synchronous_commit', 'on');
    const { read } = await aProcess(url.href);
    expect(await read()).toMatchObject({ databaseUp: 1, ready: 200 });
    const sql = openDatabase(postgres.databaseUrl, { max: 1, applicationName: 'administrator' });
    onTestFinished(() => sql.end());
    const standbys = async (names: string) => {
      await sql.unsafe(`alter system set synchronous_standby_names = '${names}'`);
      await sql`select pg_reload_conf()`;
    };
    await standbys('gone');
    await until('a commit waits', async () => (await read()).ready === 503);
    expect(await read()).toMatchObject({
      queueUp: 1,
      databaseUp: 0,
      text: expect.stringContaining('a synchronous standby is gone (SyncRep in pg_stat_activity)'),
    });
    const said: string[] = [];
    const watching = noteBlockers(postgres.databaseUrl, ['catalogue metrics'], (text) => said.push(text));
    await until('the command says why', () => said.length > 0);
    await watching[Symbol.asyncDispose]();
    expect(new Set(said)).toEqual(
      new Set([
        'This command waits for a synchronous standby of Postgres (SyncRep): start it, or take it out of synchronous_standby_names.',
      ]),
    );
    await standbys('');
    await until('commits go on', async () => (await read()).ready === 200);
  },
);
