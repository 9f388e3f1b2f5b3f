import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { openSmallDisk } from '#test/fleet/small-disk.ts';
import type { Ground } from '#test/fleet/world.ts';
import { startSystemPostgres } from '#test/ops/debian-postgres.ts';
import { asAdmin } from '#test/support/as-admin.ts';
import { cloneClause } from '#test/support/clone-clause.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';
import { removeHome } from '#test/support/temporary-postgres.ts';
import { mayMount } from '#test/support/tmpfs.ts';

/** Makes a migrated database. @returns the clause that makes others from it */
const makeTemplate = async (adminUrl: string): Promise<string> => {
  const name = `template_${randomBytes(4).toString('hex')}`;
  await asAdmin(adminUrl, (sql) => sql`create database ${sql(name)}`);
  await migrateDatabase(Object.assign(new URL(adminUrl), { pathname: name }).href);
  return asAdmin(adminUrl, (sql) => cloneClause(sql, name));
};

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/**
 * Starts a Postgres of the system whose clock can be moved. It stops with `stack`.
 * @returns undefined if Postgres or faketime is not installed (Debian: postgresql, faketime)
 */
export const startClockedGround = async (stack: AsyncDisposableStack): Promise<Ground | undefined> => {
  if (!existsSync(FAKETIME)) return undefined;
  const home = await mkdtemp(join(tmpdir(), 'catalogue-clock-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  await chmod(home, 0o755);
  const clock = join(home, 'clock');
  const moveClock = (hours: number) => writeFile(clock, `${hours < 0 ? '' : '+'}${hours}h`);
  await moveClock(0);
  const postgres = await startSystemPostgres([], {
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
  if (postgres === undefined) return undefined;
  const { adminUrl, log } = stack.use(postgres);
  return {
    adminUrl,
    template: await makeTemplate(adminUrl),
    postgresPort: () => Number(new URL(adminUrl).port),
    moveClock,
    postgresLog: log,
  };
};

/** Starts a Postgres of its own, with a migrated template. It stops with `stack`. */
export const startGround = async (stack: AsyncDisposableStack): Promise<Ground> => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-soak-'));
  stack.defer(() => removeHome(home));
  const start = () => startEmbeddedPostgres({ home, settings: { fsync: 'off', max_connections: '1000' } });
  let instance = await start();
  stack.defer(() => instance.stop());
  // Its port changes at each start: clients connect to a proxy whose port stays.
  const stable = stack.use(await startProxy(() => Number(new URL(instance.databaseUrl).port)));
  const adminUrl = stable.through(instance.databaseUrl);
  const template = await makeTemplate(adminUrl);
  return {
    adminUrl,
    template,
    postgresPort: () => Number(new URL(instance.databaseUrl).port),
    restartPostgres: async () => {
      await instance.stop();
      instance = await start();
    },
    ...(mayMount() ? { openSmallDisk: () => openSmallDisk(adminUrl) } : {}),
  };
};
