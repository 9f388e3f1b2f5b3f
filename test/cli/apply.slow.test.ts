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
/** Added first, for a comparison. */
const FEW = 1_000;

const application = (n: number, name = `Application ${n}`) => `  app-${n}:
    name: ${name}
    query_game_list_webhook: https://app-${n}.example/list
    query_game_detail_webhook: https://app-${n}.example/detail
    query_cp_kyc_webhook: https://app-${n}.example/kyc
    access_token_env: TOKEN
`;

/** A file that names these applications, and the environment of the commands that apply it. */
const useFile = async () => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-apply-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const file = join(home, 'catalogue.yaml');
  const write = (applications: string[]) => writeFile(file, `applications:\n${applications.join('')}`);
  return {
    file,
    write,
    env: { ...asOperator(database.databaseUrl), CATALOGUE_HOME: home, TOKEN: 'a-token' },
  };
};

const sessionsEnd = () =>
  until(
    'the sessions of the command end',
    async () =>
      (await database.sql`select from pg_stat_activity where application_name like 'catalogue cli %'`)
        .length === 0,
  );

test('apply that is killed among its removals goes on where it was, to the same end', async () => {
  const { file, write, env } = await useFile();
  const { sql } = database;
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
  await write(range(0, 60).map((n) => application(n)));
  expect((await runCli(['apply', '--file', file], env)).exit).toBe(0);
  await write(range(30, 90).map((n) => application(n, `Application ${n} again`)));
  const args = ['apply', '--file', file, '--prune', '--yes'];
  const removed = async () => (await sql`select from applications where status = 'removed'`).length;
  for (const enough of [1, 5, 12, 20, 29]) {
    const command = startCli(args, env);
    await until(`${enough} are removed`, async () => (await removed()) >= enough);
    command.kill('SIGKILL');
    await sessionsEnd();
  }
  expect((await runCli(args, env)).exit).toBe(0);
  const left = await sql`
    select application_id, name, status from applications
    where application_id like 'app-%' order by substr(application_id, 5)::int`;
  expect(left).toEqual(
    range(0, 90).map((n) => ({
      application_id: `app-${n}`,
      name: n < 30 ? `Application ${n}` : `Application ${n} again`,
      status: n < 30 ? 'removed' : 'active',
    })),
  );
  expect((await runCli(args, env)).stdout).toBe('0 changes.\n');
  await sql`delete from applications`;
});

test(`apply adds ${APPLICATIONS} applications, all or none, in a time that grows as their number`, async () => {
  const { file, write, env } = await useFile();
  const writeFirst = (length: number) => write(Array.from({ length }, (_, n) => application(n)));
  await writeFirst(APPLICATIONS);
  const { sql } = database;
  const count = async () => (await sql`select from applications`).length;

  const killed = startCli(['apply', '--file', file], env);
  const writes = async () =>
    (
      await sql`select from pg_stat_activity where application_name like 'catalogue cli %' and query like '%insert into applications%'`
    ).length > 0;
  await until('the first application is added', writes);
  killed.kill('SIGKILL');
  await sessionsEnd();
  expect(await count()).toBe(0);

  /** Returns how long it took, in seconds. */
  const apply = async (changes: number): Promise<number> => {
    const began = performance.now();
    const { exit, stdout } = await runCli(['apply', '--file', file], env);
    expect(exit).toBe(0);
    expect(stdout.slice(stdout.lastIndexOf('\n', stdout.length - 2) + 1)).toBe(`${changes} changes.\n`);
    return (performance.now() - began) / 1_000;
  };
  await writeFirst(FEW);
  const few = await apply(FEW);
  await writeFirst(APPLICATIONS);
  const others = await apply(APPLICATIONS - FEW);
  expect(await count()).toBe(APPLICATIONS);
  expect(others, 'nine times as many').toBeLessThan(20 * few);
  const compared = await apply(0);
  process.stdout.write(
    `seconds: ${[few, others, compared].map((each) => each.toFixed(1)).join(', ')} (first, added, compared)\n`,
  );
});
