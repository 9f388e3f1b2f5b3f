import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { openSmallDisk } from '#test/fleet/small-disk.ts';
import type { Ground } from '#test/fleet/world.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';
import { mayMount } from '#test/support/tmpfs.ts';

/** Start a Postgres of its own, with a migrated template. It stops with `stack`. */
export const startGround = async (stack: AsyncDisposableStack): Promise<Ground> => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-soak-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const start = () => startEmbeddedPostgres({ home, settings: { fsync: 'off', max_connections: '1000' } });
  let instance = await start();
  const { directory } = JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8'));
  stack.defer(() => rm(resolve(home, directory), { recursive: true, force: true }));
  stack.defer(() => instance.stop());
  // Its port changes at each start: clients connect to a proxy whose port stays.
  const stable = stack.use(await startProxy(() => Number(new URL(instance.databaseUrl).port)));
  const adminUrl = stable.through(instance.databaseUrl);
  const name = `template_${randomBytes(4).toString('hex')}`;
  const admin = openDatabase(adminUrl, { max: 1 });
  await admin.unsafe(`create database ${name}`);
  await admin.end();
  await migrateDatabase(Object.assign(new URL(adminUrl), { pathname: name }).href);
  return {
    adminUrl,
    template: `template ${name}`,
    postgresPort: () => Number(new URL(instance.databaseUrl).port),
    restartPostgres: async () => {
      await instance.stop();
      instance = await start();
    },
    ...(mayMount() ? { openSmallDisk: () => openSmallDisk(adminUrl) } : {}),
  };
};
