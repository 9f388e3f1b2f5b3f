// docs/adopt.md, as a reader follows it: every block, in one shell, against a fleet that works.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { startCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);
const database = useTestDatabase();

test('a reader adopts it beside an existing catalogue: rehearses, switches, and goes back', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-adopt-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const application = await startSampleApplication({ accessToken: ACCESS_TOKEN, games: 20, seed: 'adopt' });
  onTestFinished(() => application.close());
  const [equal, differs, waits] = application.games.all();
  const decided = { audit_status: 'passed', audit_time: '2026-01-31T09:05:00Z', decided_by: 'alice' };
  const contentOf = ({ game_id, game_info, ...content }: typeof equal & object) => ({
    application_game_id: game_id,
    ...content,
    game_desc: game_info,
  });
  if (equal === undefined || differs === undefined || waits === undefined) throw new Error('no games');
  const lines = [
    { ...contentOf(equal), ...decided },
    { ...contentOf(differs), ...decided, game_desc: 'As it was.' },
    { application_game_id: waits.game_id, ...decided },
  ];
  await writeFile(join(directory, 'acme.token'), ACCESS_TOKEN);
  const page = await readFile('docs/adopt.md', 'utf8');
  const blocks = [...page.matchAll(/^```sh(?: example)?\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(4);
  const [example = '', ...steps] = blocks;
  await run('bash', ['-euc', example], { cwd: directory });
  expect(JSON.parse(await readFile(join(directory, 'games.ndjson'), 'utf8'))).toMatchObject({
    audit_status: 'passed',
  });
  await writeFile(
    join(directory, 'games.ndjson'),
    `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
  );
  const script = steps
    .join('\n')
    .replace('http://127.0.0.1:3000/list', application.webhooks.query_game_list)
    .replace('http://127.0.0.1:3000/detail', application.webhooks.query_game_detail)
    .replace('http://127.0.0.1:3000/kyc', application.webhooks.query_cp_kyc)
    .replaceAll(/^catalogue /gm, `node ${resolve('src/cli/catalogue.ts')} `);
  const key = createHash('sha256').update('the key of the tests').digest('base64');
  const env = {
    PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}`,
    CATALOGUE_HOME: directory,
    HOME: directory,
    ENCRYPTION_KEYS: `test:${key}`,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    ...asOperator(database.databaseUrl),
  };
  const worker = startCli(['worker'], { ...env, METRICS_PORT: '0' });
  onTestFinished(async () => {
    worker.kill('SIGTERM');
    await worker.done;
  });
  await until('the worker has a heartbeat', async () => (await database.sql`select from workers`).length > 0);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory, env });
  expect(stdout).toContain('Registered acme. Its schedules wait for npx catalogue app resume acme\n');
  expect(stdout).not.toContain('Pull its games now');
  expect(stdout).toContain('3 games, every line is right.');
  expect(stdout).toContain('3 imported: 2 decided, 0 pending, 1 wait for their first pull.');
  const statuses = await database.sql`
    select audit_status, count(*)::int as games from games group by 1 order by 1`;
  expect(statuses).toEqual([
    { audit_status: 'passed', games: 2 },
    { audit_status: 'pending', games: 18 },
  ]);
  const exported = await readFile(join(directory, 'games-now.ndjson'), 'utf8');
  expect(exported).toBe(await readFile(join(directory, 'after.ndjson'), 'utf8'));
  expect(exported.trim().split('\n')).toHaveLength(20);
  expect(await readFile(join(directory, 'decisions.csv'), 'utf8')).toMatch(/^audit_id,/);
});
