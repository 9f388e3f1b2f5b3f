import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { runCli } from '#test/support/cli.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/postgres-server.ts';

const run = (command: string, { databaseUrl }: TestDatabase) =>
  runCli([command], { DATABASE_URL: databaseUrl, API_PORT: '0', CONSOLE_PORT: '0', METRICS_PORT: '0' });

const change = async ({ databaseUrl }: TestDatabase, statement: string): Promise<void> => {
  const sql = openDatabase(databaseUrl, { max: 1 });
  await sql.unsafe(statement);
  await sql.end();
};

const withDatabase = async (statement: string, work: (database: TestDatabase) => Promise<void>) => {
  const database = await createTestDatabase();
  try {
    await change(database, statement);
    await work(database);
  } finally {
    await database.drop();
  }
};

const OLDER = 'delete from drizzle.__drizzle_migrations';
const INTERRUPTED =
  'delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations)';
const NEW = 'drop schema drizzle cascade';
const NEWER =
  "insert into drizzle.__drizzle_migrations (hash, created_at) values ('a later version''s', 9999999999999)";

test.each([
  ['older', OLDER],
  ['never migrated', NEW],
  ['migrated only in part', INTERRUPTED],
])('every process refuses a database that is %s and says to migrate it', (_title, statement) =>
  withDatabase(statement, async (database) => {
    for (const role of ['worker', 'api', 'console']) {
      const { exit, stderr } = await run(role, database);
      expect(stderr).toContain('npx catalogue migrate');
      expect(exit).toBe(1);
    }
  }),
);

test('every process and migrate itself refuse a database that a newer version migrated: there is no way back', () =>
  withDatabase(NEWER, async (database) => {
    for (const command of ['worker', 'api', 'console', 'migrate']) {
      const { exit, stderr } = await run(command, database);
      expect(stderr).toContain('migrated by a newer version');
      expect(stderr).toContain('restore the backup');
      expect(exit).toBe(1);
    }
  }));

test('migrate refuses a database whose encoding cannot store every name', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 1 });
  const name = `latin_${randomUUID().slice(0, 8)}`;
  await sql`create database ${sql(name)} encoding 'LATIN1' locale_provider libc locale 'C' template template0`;
  const latin = new URL(databaseUrl);
  latin.pathname = name;
  const { exit, stderr } = await run('migrate', { databaseUrl: latin.href, drop });
  await sql`drop database ${sql(name)} with (force)`;
  await sql.end();
  await drop();
  expect(stderr).toContain("encoding 'UTF8'");
  expect(exit).toBe(1);
});
