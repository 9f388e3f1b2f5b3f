import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { updateApplication } from '#db/queries/applications.ts';
import { findRunningInstance } from '#src/embedded/postgres.ts';
import { sealAccessToken } from '#src/sealing/access-token.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';
import { startFleetApplication } from '#test/fleet/application.ts';
import { addApplication } from '#test/support/factories.ts';
import { makeHome } from '#test/support/homes.ts';

/** `catalogue up` on a home of its own; ready when it has said its addresses. */
const startUp = async (home: string) => {
  const child = spawn(process.execPath, ['src/cli/catalogue.ts', 'up', '--json'], {
    env: {
      PATH: process.env.PATH ?? '',
      CATALOGUE_HOME: home,
      API_PORT: '0',
      CONSOLE_PORT: '0',
      KYC_DESK_PORT: '0',
      METRICS_PORT: '0',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const exit = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exit;
    return child.exitCode;
  };
  onTestFinished(async () => void (await end('SIGTERM')));
  const early = exit.then(() => Promise.reject(new Error(`up ended before it was ready:\n${log}`)));
  await Promise.race([once(createInterface(child.stdout), 'line'), early]);
  early.catch(() => {});
  return { end, ended: exit.then(([code]) => code), log: () => log };
};

test('up, killed in the middle of a run and started again, recovers its Postgres and ends the run', async () => {
  const home = await makeHome();
  await using application = await startFleetApplication('acme', { games: 120 });
  const first = await startUp(home);
  const databaseUrl = await findRunningInstance(home);
  const sql = openDatabase(databaseUrl ?? '', { max: 1 });
  const row = await addApplication(sql, 'acme', {
    query_game_list_webhook: `${application.url}/query_game_list`,
    query_game_detail_webhook: `${application.url}/query_game_detail`,
  });
  const keys = await openKeyRing({ encryptionKeys: undefined, home, databaseUrl: undefined });
  await updateApplication(sql, 'acme', await sealAccessToken(keys, row, 'a-token'));
  await sql.end();

  application.block(({ operation }) => operation === 'query_game_detail');
  const sync = spawn(process.execPath, ['src/cli/catalogue.ts', 'sync', 'acme'], {
    env: { PATH: process.env.PATH ?? '', CATALOGUE_HOME: home },
    stdio: 'ignore',
  });
  await once(sync, 'exit');
  await application.blocked(1);
  await first.end('SIGKILL');
  application.release();

  const second = await startUp(home);
  const again = openDatabase((await findRunningInstance(home)) ?? '', { max: 1 });
  onTestFinished(() => again.end());
  // The lock of the killed worker's job runs out first: 30 s, and up to 15 s until a worker looks.
  const deadline = Date.now() + 80_000;
  const ended = async () => {
    const [run] = await again`select outcome, listed, inserted from sync_runs where finished_at is not null`;
    return run;
  };
  while ((await ended()) === undefined && Date.now() < deadline) await sleep(200);
  expect(await ended()).toEqual({ outcome: 'succeeded', listed: 120, inserted: 120 });
  await again.end();
  expect(await second.end('SIGTERM')).toBe(0);
});

test('up ends when its Postgres does, for who supervises it to start it again', async () => {
  const home = await makeHome();
  const up = await startUp(home);
  const sql = openDatabase((await findRunningInstance(home)) ?? '', { max: 1 });
  const [row] = await sql`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`;
  process.kill(row?.pid, 'SIGKILL');
  await sql.end({ timeout: 1 });
  expect(await up.ended).toBe(1);
});
