import { expect, inject, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { query } from '#test/embedded/homes.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';

test('Test databases made at once are migrated, and each its own', async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, createTestDatabase));
  expect(new Set(databases.map(({ databaseUrl }) => databaseUrl)).size).toBe(8);
  const [first, second] = databases;
  await query(first?.databaseUrl ?? '', 'create table mine (id int)');
  const tablesOf = (url = '') =>
    query(url, "select to_regclass('games') is not null as games, to_regclass('mine') is not null as mine");
  expect(await tablesOf(first?.databaseUrl)).toEqual([{ games: true, mine: true }]);
  expect(await tablesOf(second?.databaseUrl)).toEqual([{ games: true, mine: false }]);
  await Promise.all(databases.map(({ drop }) => drop()));
});

test('Dropping a test database fails with the name of who left a session open, and removes it all the same', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const forgotten = openDatabase(databaseUrl, { max: 1, applicationName: 'forgetful' });
  await forgotten`select 1`;
  await expect(drop()).rejects.toThrow('1 sessions were left open in the test database: "forgetful" (idle)');
  await forgotten.end();

  const name = new URL(databaseUrl).pathname.slice(1);
  const found = await query(
    inject('adminDatabaseUrl'),
    `select 1 from pg_database where datname = '${name}'`,
  );
  expect(found).toEqual([]);
});

test('A session that is just ending is no leak', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 4 });
  await Promise.all([sql`select 1`, sql`select 1`, sql`select 1`]);
  await Promise.all([drop(), sql.end()]);
});

test.skipIf(inject('redisUrl') === null)(
  'The run has a Redis of its own (skipped where there is no redis-server)',
  () => {
    expect(inject('redisUrl')).toMatch(/^rediss?:/);
  },
);
