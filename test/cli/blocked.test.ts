import { expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';
import { startCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Runs a command while psql keeps the table, until the command has said so. @param prepare runs before, beside psql */
const runBehindLock = async (
  args: readonly string[],
  env: Record<string, string>,
  prepare?: () => Promise<void>,
) => {
  const sql = openDatabase(database.databaseUrl, { max: 1, applicationName: 'psql' });
  try {
    const { pid, command } = await sql.begin(async (tx) => {
      const pid = await onlyValue(tx<{ pid: number }[]>`select pg_backend_pid() as pid`);
      await tx`lock table applications`;
      await prepare?.();
      const command = startCli(args, env);
      await expect.poll(() => command.output().stderr, { timeout: 30_000 }).toContain('This command waits');
      return { pid, command };
    });
    return { pid, ...(await command.done) };
  } finally {
    await sql.end();
  }
};

const sentence = (pid: number) =>
  `This command waits for a lock that session ${pid} of Postgres has (login ${new URL(database.databaseUrl).username}, program psql). It goes on when that transaction ends; an administrator ends it with select pg_terminate_backend(${pid}).\n`;

test('a command says who keeps the lock that it waits for, once, and goes on', async () => {
  const { pid, ...result } = await runBehindLock(['app', 'list', '--json'], asOperator(database.databaseUrl));
  expect(result).toMatchObject({ exit: 0, stderr: sentence(pid) });
  expect(JSON.parse(result.stdout)).toMatchObject({ applications: [] });
});

test('so does migrate', async () => {
  const { pid, ...result } = await runBehindLock(['migrate'], { DATABASE_URL: database.databaseUrl });
  expect(result).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^The database is up to date: no migration was due\./),
  });
  expect(result.stderr).toContain(sentence(pid));
});

test('it names the first of those that wait for each other', async () => {
  const change = openDatabase(database.databaseUrl, { max: 1, applicationName: 'a change of the table' });
  let changed: Promise<unknown> = Promise.resolve();
  const waitForLock = async (): Promise<void> => {
    changed = change.begin((tx) => tx`alter table applications add column extra integer`);
    const countWaiting = () =>
      onlyValue(database.sql<{ count: number }[]>`
        select count(*)::int from pg_locks where not granted and relation = 'applications'::regclass`);
    await expect.poll(countWaiting).toBe(1);
  };
  const env = asOperator(database.databaseUrl);
  const { pid, ...result } = await runBehindLock(['app', 'list', '--json'], env, waitForLock);
  await changed;
  await change.end();
  expect(result.stderr).toBe(sentence(pid));
});
