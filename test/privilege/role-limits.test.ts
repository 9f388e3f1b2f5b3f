import { beforeAll, expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { DATABASE_ROLES, roleName } from '#db/roles.ts';
import { onlyValue } from '#db/rows.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { urlOfRole } from '#test/support/roles.ts';

const { database, expectRefused } = useStolenLogins();
beforeAll(async () => expect(await grantRoles(database.sql, {})).toEqual([]));

it('only a worker ends sessions', async () => {
  for (const role of DATABASE_ROLES.filter((each) => each !== 'worker'))
    await expectRefused(role, ['select end_overdue_sessions()']);
});

it('no role fills the disk by temporary tables or large objects, or takes every connection', async () => {
  for (const role of DATABASE_ROLES)
    await expectRefused(role, [
      'create temporary table t (a int)',
      'select lo_create(0)',
      'select lo_creat(-1)',
      "select lo_from_bytea(0, 'x')",
    ]);
  const limits = await database.sql`
    select distinct rolconnlimit < current_setting('max_connections')::int and rolconnlimit > 0 as limited
    from pg_roles where rolname = any(${DATABASE_ROLES.map(roleName)}::text[])`;
  expect([...limits]).toEqual([{ limited: true }]);
});

it('what a role sets for itself ends with the next migrate', async () => {
  const [name, sql] = [roleName('media'), database.as('media')];
  const own = await onlyValue(sql<{ name: string }[]>`select current_database() as name`);
  // Both last, for every later session of the role.
  await sql.unsafe(`alter role ${name} in database ${own} set default_transaction_read_only = on`);
  await sql.unsafe(`alter role ${name} set work_mem = '3MB'`);
  expect(await grantRoles(database.sql, {})).toEqual([]);
  const later = openDatabase(urlOfRole(database.databaseUrl, 'media'), { max: 1 });
  expect(
    await onlyValue(later<{ set: string }[]>`
      select current_setting('default_transaction_read_only') || current_setting('work_mem') as set`),
  ).not.toMatch(/on|3MB/);
  await later.end();
});
