import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { onFreePorts } from '#test/cli/demo-home.ts';
import { documentOf, runCli, startCli } from '#test/support/cli.ts';
import { makeHome, makeNewHome } from '#test/support/homes.ts';
import { until } from '#test/support/until.ts';

it('shows one sync without setup, and finds every game unchanged the second time', async () => {
  const env = onFreePorts(await makeNewHome());
  const first = await startCli(['demo', '--once', '--json', '--games', '120'], env).done;
  expect(first.exit).toBe(0);
  const landed = documentOf(first);
  expect(landed.runs).toHaveLength(3);
  for (const run of landed.runs)
    expect(run).toMatchObject({ outcome: 'succeeded', listed: 120, inserted: 120, updated: 0, failed: 0 });
  expect(landed.games).toEqual({ pending: 360 });
  expect(landed.kyc.map(({ application_id }: { application_id: string }) => application_id).sort()).toEqual(
    landed.runs.map(({ application_id }: { application_id: string }) => application_id).sort(),
  );

  const second = await startCli(['demo', '--once', '--json', '--games', '120'], env).done;
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

it.each(['SIGINT', 'SIGTERM'] as const)(
  'stops its Postgres when %s ends it during the sync',
  async (signal) => {
    const env = onFreePorts(await makeHome());
    const demo = startCli(['demo', '--once', '--games', '2000'], env);
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
  const env = { ...onFreePorts('/nonexistent'), DATABASE_URL: 'postgres://127.0.0.1:9/x' };
  const { exit, stderr } = await runCli(['demo', '--once'], env);
  expect(exit).toBe(2);
  expect(stderr).toContain('unset it');
});
