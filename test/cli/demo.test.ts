import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { documentOf, runCli, startCli } from '#test/support/cli.ts';
import { until } from '#test/support/until.ts';

/** A new CATALOGUE_HOME. For root, the data of Postgres may be in another directory. */
const aHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-demo-'));
  onTestFinished(async () => {
    const record = await readFile(join(home, 'postgres.json'), 'utf8').catch(() => '{"directory":"."}');
    for (const path of [resolve(home, JSON.parse(record).directory), home])
      await rm(path, { recursive: true, force: true, maxRetries: 20 });
  });
  return home;
};

/** Free ports. */
const environment = (home: string) => ({
  CATALOGUE_HOME: home,
  API_PORT: '0',
  BOARD_PORT: '0',
  METRICS_PORT: '0',
});

it('shows one sync without setup, and finds every game unchanged the second time', async () => {
  const env = environment(await aHome());
  const first = await runCli(['demo', '--once', '--json', '--games', '120'], env);
  expect(first.exit).toBe(0);
  const landed = documentOf(first);
  expect(landed.runs).toHaveLength(3);
  for (const run of landed.runs)
    expect(run).toMatchObject({ outcome: 'succeeded', listed: 120, inserted: 120, updated: 0, failed: 0 });
  expect(landed.games).toEqual({ pending: 360 });
  expect(landed.kyc.map(({ application_id }: { application_id: string }) => application_id).sort()).toEqual(
    landed.runs.map(({ application_id }: { application_id: string }) => application_id).sort(),
  );

  const second = await runCli(['demo', '--once', '--json', '--games', '120'], env);
  expect(second.exit).toBe(0);
  const again = documentOf(second);
  for (const run of again.runs)
    expect(run).toMatchObject({
      outcome: 'succeeded',
      inserted: 0,
      updated: 0,
      unchanged: 120,
      withdrawn: 0,
    });
  expect(again.games).toEqual({ pending: 360 });
});

it('keeps running without --once, serves commands from another terminal, and stops in order at SIGINT', async () => {
  const env = environment(await aHome());
  const demo = startCli(['demo', '--games', '5', '--applications', '1'], env);
  const { stdout } = await until('the demo is up', () => {
    const output = demo.output();
    return output.stdout.includes('Stop with Ctrl-C') && output;
  });
  expect(stdout).toContain('5 games wait for review');
  const board = /^board +(http:\S+)/m.exec(stdout)?.[1] ?? '';
  expect((await fetch(board, { redirect: 'manual' })).status).toBeLessThan(400);

  const [suggested = ''] = /^ {2}npx catalogue sync .*$/m.exec(stdout) ?? [];
  const synced = await runCli([...suggested.trim().split(' ').slice(2), '--json'], env);
  expect(documentOf(synced).runs).toMatchObject([{ outcome: 'succeeded', unchanged: 5 }]);
  expect(synced.exit).toBe(0);

  demo.kill('SIGINT');
  const { exit, stderr } = await demo.done;
  expect({ exit, faults: /\bat .*:\d+:\d+/.exec(stderr) }).toEqual({ exit: 0, faults: null });
  const after = await runCli(['game', 'list', '--json'], env);
  expect(after.exit).toBe(2);
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'stops its Postgres when %s ends it during the sync',
  async (signal) => {
    const env = environment(await aHome());
    const demo = startCli(['demo', '--once', '--games', '20000'], env);
    const databaseUrl = await until('its Postgres runs', async () => {
      const instance = await readFile(join(env.CATALOGUE_HOME, 'instance.json'), 'utf8').catch(() => '');
      return instance !== '' && (JSON.parse(instance).databaseUrl as string);
    });
    const sql = openDatabase(databaseUrl, { max: 1 });
    const [row] = await sql`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`;
    await sql.end();
    demo.kill(signal);
    expect((await demo.done).exit).toBe(128 + constants.signals[signal]);
    await until('its Postgres has ended', () => {
      try {
        return !process.kill(row?.pid, 0);
      } catch {
        return true;
      }
    });
  },
);

it('refuses to use the database of DATABASE_URL', async () => {
  const env = { ...environment('/nonexistent'), DATABASE_URL: 'postgres://127.0.0.1:9/x' };
  const { exit, stderr } = await runCli(['demo', '--once'], env);
  expect(exit).toBe(2);
  expect(stderr).toContain('unset it');
});
