import { expect, test } from 'vitest';
import { runCli } from '#test/support/cli.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test('migrate grants the rights of every role although Redis is down, and then fails', async () => {
  const { sql, databaseUrl } = database;
  await sql`revoke all on all tables in schema public from catalogue_worker`;
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: 'redis://127.0.0.1:1' };
  const { exit, stderr } = await runCli(['migrate'], env);
  expect(exit).toBe(1);
  expect(stderr).toContain('Redis');
  expect(
    await sql`select has_table_privilege('catalogue_worker', 'ingest_failures', 'insert') as granted`,
  ).toEqual([{ granted: true }]);
});
