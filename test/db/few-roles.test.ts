import { expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';

test('where an administrator has made the roles of some processes alone, these get their rights', async () => {
  await using server = await startTemporaryPostgres();
  await using sessions = new AsyncDisposableStack();
  const connect = (url: string) => sessions.adopt(openDatabase(url, { max: 1 }), (sql) => sql.end());
  const admin = connect(server.databaseUrl);
  await admin`create role plain login password 'plain'`;
  await admin`create database few owner plain`;
  await admin`create role catalogue_api`;
  const url = new URL(server.databaseUrl);
  Object.assign(url, { username: 'plain', password: 'plain', pathname: '/few' });
  await migrateDatabase(url.href);
  const owner = connect(url.href);
  expect(await grantRoles(owner, {})).toEqual([
    expect.stringContaining('create role catalogue_worker;'),
    expect.stringContaining('cannot revoke what Postgres grants to every login'),
  ]);
  expect(await owner`select has_table_privilege('catalogue_api', 'games', 'select') as may`).toEqual([
    { may: true },
  ]);
});
