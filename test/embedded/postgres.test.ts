import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRunningInstance } from '#src/embedded/postgres.ts';
import { isRoot, makeHome, makeNewHome, query, start } from '#test/support/homes.ts';

describe('one owner', () => {
  test('A stopped instance keeps its data for the next start', async () => {
    const home = await makeHome();
    const first = await start(home);
    await query(first.databaseUrl, "create table kept as select 'a row' as value");
    await first.stop();

    const second = await start(home);
    expect(await query(second.databaseUrl, 'select value from kept')).toEqual([{ value: 'a row' }]);
  });

  test('The default settings are durable, local and independent of the machine', async () => {
    const { databaseUrl } = await start(await makeNewHome(), {});
    const [settings] = await query(
      databaseUrl,
      `select current_database() as database, current_setting('fsync') as fsync,
         current_setting('synchronous_commit') as synchronous_commit,
         current_setting('listen_addresses') as listen_addresses,
         current_setting('unix_socket_directories') as unix_socket_directories,
         current_setting('server_encoding') as encoding, current_setting('timezone') as timezone,
         lower('ÀÉЖ') as lowered`,
    );
    expect(settings).toEqual({
      database: 'catalogue',
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      encoding: 'UTF8',
      timezone: 'UTC',
      lowered: 'àéж',
    });
  });

  test('Settings given at the start are in force', async () => {
    const { databaseUrl } = await start(await makeHome(), { fsync: 'off', work_mem: '5MB' });
    expect(await query(databaseUrl, 'show fsync')).toEqual([{ fsync: 'off' }]);
    expect(await query(databaseUrl, 'show work_mem')).toEqual([{ work_mem: '5MB' }]);
  });

  test('Only their owner can read the files that contain the password', async () => {
    const home = await makeNewHome();
    const { databaseUrl } = await start(home);
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await modeOf(join(home, 'instance.json'))).toBe(0o600);
    expect(await modeOf(join(home, 'postgres.json'))).toBe(0o600);
    // For root the group is that of Postgres's user, who may pass through and read nothing.
    expect(await modeOf(home)).toBe(isRoot ? 0o710 : 0o700);
    const instance = JSON.parse(await readFile(join(home, 'instance.json'), 'utf8'));
    expect(instance).toEqual({ databaseUrl, pid: process.pid });
  });

  test('A wrong password is refused', async () => {
    const { databaseUrl } = await start(await makeHome());
    const url = new URL(databaseUrl);
    url.password = 'guess';
    await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('Two homes run at once, each on a port of its own', async () => {
    const [one, other] = await Promise.all([start(await makeHome()), start(await makeHome())]);
    expect(new URL(one.databaseUrl).port).not.toBe(new URL(other.databaseUrl).port);
  });

  test('A home may have any name: none passes through a shell', async () => {
    const home = await makeHome({ name: `it's "$HOME" & \`café\`` });
    const { databaseUrl } = await start(home);
    expect(await findRunningInstance(home)).toBe(databaseUrl);
  });

  test('A Postgres that ends by itself names its log', async () => {
    const home = await makeHome();
    const { databaseUrl, lost } = await start(home);
    const [{ pid } = {}] = await query(
      databaseUrl,
      "select (regexp_split_to_array(pg_read_file('postmaster.pid'), '\n'))[1]::int as pid",
    );
    process.kill(Number(pid), 'SIGQUIT');
    const [, log = ''] = /^the embedded Postgres ended: its log says why \((.+)\)$/.exec(await lost) ?? [];
    expect(await readFile(log, 'utf8')).toContain('immediate shutdown');
  });

  test('Stopping twice is stopping once', async () => {
    const instance = await start(await makeHome());
    await Promise.all([instance.stop(), instance.stop()]);
    await instance.stop();
  });
});

describe('findRunningInstance', () => {
  test('finds an instance while it runs, and null before and after', async () => {
    const home = await makeHome();
    expect(await findRunningInstance(home)).toBeNull();
    const { databaseUrl, stop } = await start(home);
    expect(await findRunningInstance(home)).toBe(databaseUrl);
    await stop();
    expect(await findRunningInstance(home)).toBeNull();
  });

  test('finds an instance that refuses queries: the command that connects says why', async () => {
    const home = await makeHome();
    const { databaseUrl } = await start(home);
    const server = databaseUrl.replace(/\w+$/, 'postgres');
    await query(server, 'alter database catalogue allow_connections false');
    expect(await findRunningInstance(home)).toBe(databaseUrl);
  });

  test('is null when the recorded instance no longer answers', async () => {
    const home = await makeHome();
    const { databaseUrl, stop } = await start(home);
    await stop();
    await writeFile(join(home, 'instance.json'), JSON.stringify({ databaseUrl, pid: 1 }));
    expect(await findRunningInstance(home)).toBeNull();
  });
});

describe('failures', () => {
  test('A setting Postgres refuses ends the start with the log that says so, and a later start works', async () => {
    const home = await makeHome();
    await expect(start(home, { shared_buffers: 'plenty' })).rejects.toThrow(
      /did not start.*invalid value for parameter "shared_buffers": "plenty"/s,
    );
    await start(home);
  });

  test('A home that cannot be made says what to do', async () => {
    const file = await makeNewHome();
    await writeFile(file, '');
    await expect(start(join(file, 'home'))).rejects.toThrow(
      /Set CATALOGUE_HOME to another directory, or DATABASE_URL/,
    );
  });
});
