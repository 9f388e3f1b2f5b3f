// Starts the servers of one test run: Postgres with a migrated template database (or uses TEST_DATABASE_URL, version 14
// or newer) and Redis (or uses TEST_REDIS_URL). Prints their URLs in one line of JSON, and stops them when stdin ends.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { DATABASE_ROLES } from '#db/roles.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { coerceError } from '#src/errors.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { asAdmin } from '#test/support/as-admin.ts';
import { BROWSER_ARGS, BROWSER_PATH } from '#test/support/browser-options.ts';
import { cloneClause } from '#test/support/clone-clause.ts';
import { copyHome } from '#test/support/copy-home.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { FAST_SETTINGS, makeTemporaryHome, removeHome } from '#test/support/temporary-postgres.ts';

export type ServersAnswer =
  | {
      adminDatabaseUrl: string;
      templateClause: string;
      redisUrl: string | null;
      initializedHome: string;
      browserEndpoint: string | null;
    }
  | { error: string };

const main = async (): Promise<void> => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const initializedHome = await initializeHome(stops);
    const adminDatabaseUrl = process.env.TEST_DATABASE_URL || (await startPostgres(initializedHome, stops));
    const templateClause = await createTemplate(adminDatabaseUrl, stops);
    const redisUrl = process.env.TEST_REDIS_URL || (await startRedis(stops));
    const browserEndpoint = await startBrowser(stops);
    print({ adminDatabaseUrl, templateClause, redisUrl, initializedHome, browserEndpoint });
    await once(process.stdin.resume(), 'end');
  } catch (thrown) {
    print({ error: coerceError(thrown).message });
  }
  for (const stop of stops.reverse()) await stop();
  process.stdin.destroy();
};

const print = (answer: ServersAnswer): void => {
  // The reader may have ended; the servers must be stopped all the same.
  process.stdout.on('error', () => undefined);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
};

/** Makes a home whose Postgres is initialised and stopped: a copy of it saves an initdb. */
const initializeHome = async (stops: (() => Promise<unknown>)[]): Promise<string> => {
  const home = await makeTemporaryHome();
  stops.push(() => removeHome(home));
  await (await startEmbeddedPostgres({ home, settings: FAST_SETTINGS })).stop();
  return home;
};

const startPostgres = async (initializedHome: string, stops: (() => Promise<unknown>)[]): Promise<string> => {
  const home = `${initializedHome}-server`;
  stops.push(() => removeHome(home));
  await copyHome(initializedHome, home);
  const instance = await startEmbeddedPostgres({ home, settings: FAST_SETTINGS });
  stops.push(instance.stop);
  return instance.databaseUrl;
};

/** Returns the clause that clones the template. Its name is unique: several runs can share a server. */
const createTemplate = async (
  adminDatabaseUrl: string,
  stops: (() => Promise<unknown>)[],
): Promise<string> => {
  const name = `catalogue_template_${randomUUID().slice(0, 8)}`;
  await asAdmin(adminDatabaseUrl, (sql) => sql`create database ${sql(name)}`);
  stops.push(() => asAdmin(adminDatabaseUrl, (sql) => sql`drop database ${sql(name)} with (force)`));

  const templateUrl = new URL(adminDatabaseUrl);
  templateUrl.pathname = name;
  await migrateDatabase(templateUrl.href);
  // As `catalogue migrate` does where the queue is in Postgres too.
  const queue = {
    databaseUrl: templateUrl.href,
    redisUrl: undefined,
    prefix: '{catalogue}',
    use: 'producer',
  } as const;
  const backend = openQueueBackend({ ...queue, onError: () => {} });
  await backend.migrate(jobSpecs.map(({ name }) => name)).finally(() => backend.close());
  const urls = DATABASE_ROLES.map((role) => [role, urlOfRole(templateUrl.href, role)]);
  await asAdmin(templateUrl.href, (sql) => grantRoles(sql, Object.fromEntries(urls)));

  return asAdmin(adminDatabaseUrl, async (sql) => {
    // A template with an open session cannot be cloned.
    await sql`alter database ${sql(name)} allow_connections false`;
    return cloneClause(sql, name);
  });
};

const startRedis = async (stops: (() => Promise<unknown>)[]): Promise<string | null> => {
  try {
    const server = await startRedisServer();
    stops.push(() => server[Symbol.asyncDispose]());
    return server.url;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (!process.env.CI) return null;
    throw new Error('with CI set a missing redis-server is a failure: apt-get install -y redis-server');
  }
};

/** The browser of all tests: each file opens contexts of its own. Its tests are skipped without Chromium. */
const startBrowser = async (stops: (() => Promise<unknown>)[]): Promise<string | null> => {
  if (!existsSync(BROWSER_PATH)) {
    const reason = `there is no Chromium at ${BROWSER_PATH}: install it, or set CHROMIUM_PATH`;
    if (process.env.CI) throw new Error(`with CI set this is a failure: ${reason}`);
    process.stderr.write(`Tests in a browser are skipped: ${reason}.\n`);
    return null;
  }
  const server = await chromium.launchServer({ executablePath: BROWSER_PATH, args: BROWSER_ARGS });
  stops.push(() => server.close());
  return server.wsEndpoint();
};

await main();
