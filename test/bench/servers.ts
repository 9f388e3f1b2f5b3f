import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import { readConfig } from '#src/config.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { migrateAll } from '#src/processes/migrate.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { removeHome } from '#test/support/temporary-postgres.ts';

/** The real servers that everything is measured on. */
export type Servers = {
  redisUrl: string;
  encryptionKeys: string;
  home: string;
  /** A migrated database of its own, and an empty Redis. Dropped with its scope. */
  createDatabase: () => Promise<{ databaseUrl: string; sql: Database } & AsyncDisposable>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

const TEMPLATE = 'bench_template';

/** Postgres with durable settings, as a fleet has it (or TEST_DATABASE_URL), and redis-server from the PATH. */
export const startServers = async (): Promise<Servers> => {
  await using started = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'catalogue-bench-'));
  started.defer(() => removeHome(home));
  const adminUrl = process.env.TEST_DATABASE_URL || (await startPostgres(home, started));
  const redisServer = started.use(await startRedisServer());
  const redis = new Redis(redisServer.url);
  started.defer(() => redis.disconnect());
  const admin = openDatabase(adminUrl, { max: 1, applicationName: 'catalogue bench' });
  started.defer(() => admin.end());

  const drop = (name: string) => admin`drop database if exists ${admin(name)} with (force)`;
  const urlOf = (name: string): string => Object.assign(new URL(adminUrl), { pathname: name }).href;
  await drop(TEMPLATE);
  await admin`create database ${admin(TEMPLATE)}`;
  started.defer(async () => void (await drop(TEMPLATE)));
  // With a schema for queues, for who keeps them there.
  await migrateAll(readConfig({}), urlOf(TEMPLATE), pino({ level: 'silent' }), () => {});

  const createDatabase = async () => {
    const name = `bench_${randomBytes(6).toString('hex')}`;
    await admin`create database ${admin(name)} template ${admin(TEMPLATE)}`;
    await redis.flushall();
    // Earlier writes are flushed, so that their checkpoint falls into no measurement.
    await admin`checkpoint`;
    const databaseUrl = urlOf(name);
    const sql = openDatabase(databaseUrl, { max: 4, applicationName: 'catalogue bench' });
    const close = async () => {
      await sql.end();
      await drop(name);
    };
    return { databaseUrl, sql, [Symbol.asyncDispose]: close };
  };

  const all = started.move();
  let closing: Promise<void> | undefined;
  return {
    redisUrl: redisServer.url,
    encryptionKeys: `bench:${randomBytes(32).toString('base64')}`,
    home,
    createDatabase,
    // A signal and the failure it causes may both ask for it: each waits for the one end.
    [Symbol.asyncDispose]: () => {
      closing ??= all.disposeAsync();
      return closing;
    },
  };
};

const startPostgres = async (home: string, started: AsyncDisposableStack): Promise<string> => {
  const instance = await startEmbeddedPostgres({ home });
  started.defer(() => instance.stop());
  return instance.databaseUrl;
};
