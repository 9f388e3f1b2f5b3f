import { describe, expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { testFleetOfRoles } from '#test/privilege/fleet-of-roles.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';

describe('A fleet whose processes have roles and secrets of their own, with the queues in Postgres', () =>
  testFleetOfRoles(false));

it('a search_path in the URL changes nothing: a reveal is in the real log, or is refused', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 2 });
  try {
    await sql`create schema shadow`;
    await sql`create table shadow.kyc_access_log (like public.kyc_access_log including all)`;
    for (const [name, value] of [
      ['search_path', 'shadow,public'],
      ['SEARCH_PATH', 'shadow,public'],
      ['options', '-c search_path=shadow,public'],
      ['options', '--search_path=shadow,public'],
    ] as const) {
      const url = new URL(databaseUrl);
      url.searchParams.set(name, value);
      const one = openDatabase(url.href, { max: 1 });
      const [row] = await one`
        select current_setting('search_path') as path, 'kyc_access_log'::regclass = 'public.kyc_access_log'::regclass as real`;
      await one.end();
      expect({ name, value, ...row }).toEqual({ name, value, path: 'public, pg_temp', real: true });
    }
  } finally {
    await sql.end();
    await drop();
  }
});
