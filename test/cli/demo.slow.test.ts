import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '#src/config.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { tick } from '#src/ingest/specs.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { onFreePorts } from '#test/cli/demo-home.ts';
import { documentOf, runCli, startCli } from '#test/support/cli.ts';
import { makeHome, makeNewHome } from '#test/support/homes.ts';
import { openTerminal } from '#test/support/terminal.ts';
import { until } from '#test/support/until.ts';

/** Makes the scheduled runs of this home's applications overdue, as they are after some hours. */
const makeRunsOverdue = async (home: string): Promise<number> => {
  const instance = await startEmbeddedPostgres({ home });
  try {
    await using foundation = openFoundation(readConfig({ CATALOGUE_HOME: home }), instance.databaseUrl, {
      use: 'producer',
      name: 'test',
      maxConnections: 1,
      logger: pino({ level: 'silent' }),
    });
    const ticks = await foundation.producer.queue(tick).getDelayed();
    for (const { data } of ticks) await foundation.producer.add(tick, data);
    return ticks.length;
  } finally {
    await instance.stop();
  }
};

it('a second demo logs no warning of overdue runs: the sample applications answer before the worker starts', async () => {
  const env = onFreePorts(await makeHome());
  const args = ['demo', '--once', '--json', '--games', '5', '--applications', '2'];
  expect((await startCli(args, env).done).exit).toBe(0);
  expect(await makeRunsOverdue(env.CATALOGUE_HOME)).toBeGreaterThanOrEqual(2);
  const { exit, stderr } = await startCli(args, env).done;
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.not.stringMatching(/"level":|WARN/) });
});

/** Runs a line of the demo's hints as printed, in a checkout, and without the variables of this test. */
const runAsPrinted = async (line: string): Promise<string> => {
  const { PATH = '', HOME = '' } = process.env;
  return (await promisify(execFile)('bash', ['-c', line.trim()], { env: { PATH, HOME } })).stdout;
};

it('keeps running without --once: its hints and addresses work as printed, and up starts its sample applications again', async () => {
  const env = onFreePorts(await makeHome());
  const demo = startCli(['demo', '--games', '5', '--applications', '1'], env);
  const { stdout } = await until('the demo is up', () => {
    const output = demo.output();
    return output.stdout.includes('Stop with Ctrl-C') && output;
  });
  expect(stdout).toContain('5 games wait for review');
  const addresses = stdout.match(/(?<= )http:\/\/[\d.:]+$/gm) ?? [];
  expect(addresses.length).toBeGreaterThanOrEqual(3);
  for (const address of addresses)
    expect((await fetch(address, { redirect: 'manual' })).status, address).toBeLessThan(400);
  const link = /^ +(http:\S+\/sign-in\?link=\S+)/m.exec(stdout)?.[1] ?? '';
  const entered = await fetch(link, { redirect: 'manual' });
  expect(entered.headers.get('location')).toBe('/review');
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const review = await fetch(new URL('/review', link), { headers: { cookie } });
  expect(await review.text()).toContain('Demo');
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(410);

  const hint = (pattern: RegExp): string => pattern.exec(stdout)?.[0] ?? 'false';
  expect(await runAsPrinted(`${hint(/^ {2}.*catalogue sync .*$/m)} --json`)).toContain('"unchanged":5');
  expect(await runAsPrinted(hint(/^ {2}.*catalogue game list .*$/m))).toMatch(/pending/);
  expect(JSON.parse(await runAsPrinted(hint(/^ {2}curl .*$/m)))).toMatchObject({
    ret_code: 0,
    data: { total: 5 },
  });

  demo.kill('SIGINT');
  const { exit, stderr } = await demo.done;
  expect({ exit, faults: /\bat .*:\d+:\d+/.exec(stderr) }).toEqual({ exit: 0, faults: null });
  const after = await runCli(['game', 'list', '--json'], env);
  expect(after.exit).toBe(2);

  const up = startCli(['up'], env);
  await until('everything is up', () => up.output().stdout.includes('Stop with Ctrl-C'));
  expect(up.output().stdout).toContain('The sample applications of the demo run again');
  const synced = documentOf(await runCli(['sync', '--all', '--wait', '--json'], env));
  expect(synced.runs).toMatchObject([{ outcome: 'succeeded', unchanged: 5 }]);
  up.kill('SIGINT');
  expect((await up.done).exit).toBe(0);
});

it.each([
  ['the database is created', /Creating a Postgres database/, ['demo']],
  ['the games are pulled', /\d\/\d+ games/, ['demo', '--games', '50000', '--applications', '2']],
])('Ctrl-C while %s ends the demo quietly', async (_moment, sign, args) => {
  const screen = await openTerminal({ columns: 100, env: onFreePorts(await makeNewHome()) });
  onTestFinished(() => screen.close());
  await screen.type(`clear; catalogue ${args.join(' ')}; echo "[exit $?]"`);
  await until('it began', async () => sign.test(await screen.screen()));
  await screen.press('C-c');
  const text = await until('it ended', async () => {
    const now = await screen.screen();
    return now.includes('[exit 130]') && now;
  });
  expect(text).not.toMatch(/FATAL|ERROR|Internal error|\bat .*:\d+/);
  expect(await screen.modes()).toEqual({ cursor: true, wrap: true });
});
