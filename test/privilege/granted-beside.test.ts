import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { roleName } from '#db/roles.ts';
import { onlyValue } from '#db/rows.ts';
import { mayRun } from '#test/privilege/may-run.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';

it('the next migrate takes what the roles were granted beside their lines', async () => {
  // Members of a role are the same in each database of a server, and tests that run beside this one migrate theirs.
  await using server = await startTemporaryPostgres();
  await migrateDatabase(server.databaseUrl);
  const sql = openDatabase(server.databaseUrl, { max: 1 });
  onTestFinished(() => sql.end());
  expect(await grantRoles(sql, {})).toEqual([]);
  const api = roleName('api');
  const worker = roleName('worker');
  const name = await onlyValue(sql<{ name: string }[]>`select current_database() as name`);
  await sql.unsafe(`
    grant create on schema public, drizzle to ${api}; grant create, temporary on database ${name} to ${api};
    grant update on all sequences in schema public to ${api}; grant insert on drizzle.__drizzle_migrations to ${api};
    grant select on kyc_records to ${api}; grant ${worker} to ${api};
    grant create on schema drizzle to public; grant select on kyc_former_records to public;
    grant select (password_hash) on operators to public; grant all on sequence event_positions to public`);
  const acts = [
    'create table public.own (a int)',
    'create table drizzle.own (a int)',
    'create schema own',
    'create temporary table own (a int)',
    "select setval('game_audits_audit_id_seq', 1)",
    "insert into drizzle.__drizzle_migrations (id, hash) values (0, 'x')",
    'select from kyc_records',
    'select from kyc_keys',
    'select from kyc_former_records',
    'select password_hash from operators',
    "select nextval('event_positions')",
  ];
  const readAll = async () => {
    const found: string[] = [];
    for (const act of acts) if (await mayRun(sql, 'api', act)) found.push(act);
    return found;
  };
  expect(await readAll()).toEqual(acts);
  expect(await grantRoles(sql, {})).toEqual([]);
  expect(await readAll()).toEqual([]);
});
