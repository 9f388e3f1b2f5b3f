// 10,000 applications in a minute; killed anywhere and run again, the end is the same.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, startCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const APPLICATIONS = 10_000;

test(`apply adds ${APPLICATIONS} applications in less than a minute, all or none`, async () => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-apply-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const file = join(home, 'catalogue.yaml');
  const one = (n: number) => `  app-${n}:
    name: Application ${n}
    query_game_list_webhook: https://app-${n}.example/list
    query_game_detail_webhook: https://app-${n}.example/detail
    query_cp_kyc_webhook: https://app-${n}.example/kyc
    access_token_env: TOKEN
`;
  await writeFile(file, `applications:\n${Array.from({ length: APPLICATIONS }, (_, n) => one(n)).join('')}`);
  const env = { ...asOperator(database.databaseUrl), CATALOGUE_HOME: home, TOKEN: 'a-token' };
  const { sql } = database;
  const count = async () => (await sql`select from applications`).length;

  const killed = startCli(['apply', '--file', file], env);
  const writes = async () =>
    (
      await sql`select from pg_stat_activity where application_name = 'catalogue cli' and query like '%insert into applications%'`
    ).length > 0;
  await until('the first application is added', writes);
  killed.kill('SIGKILL');
  await until(
    'its session ends',
    async () =>
      (await sql`select from pg_stat_activity where application_name = 'catalogue cli'`).length === 0,
  );
  expect(await count()).toBe(0);

  const began = performance.now();
  const { exit, stdout } = await runCli(['apply', '--file', file], env);
  const seconds = (performance.now() - began) / 1_000;
  expect(exit).toBe(0);
  expect(stdout.endsWith(`${APPLICATIONS} changes.\n`)).toBe(true);
  expect(await count()).toBe(APPLICATIONS);
  expect(seconds).toBeLessThan(60);
  const again = performance.now();
  expect((await runCli(['apply', '--file', file], env)).stdout).toBe('0 changes.\n');
  process.stdout.write(
    `added in ${seconds.toFixed(1)} s, compared in ${((performance.now() - again) / 1_000).toFixed(1)} s\n`,
  );
});
