import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { listAudit, recordAudit } from '#db/queries/audit.ts';
import { DATABASE_ROLES, FUNCTION_RIGHTS, roleName } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** One session, so that `set role` and temporary tables last. */
let session: Database;
beforeAll(async () => {
  expect(await grantRoles(database.sql, {})).toEqual([]);
  session = openDatabase(database.databaseUrl, { max: 1, applicationName: 'owner functions test' });
});
afterAll(() => session.end());

const ownerFunctions = () => database.sql<{ name: string; is_trigger: boolean }[]>`
  select p.oid::regprocedure::text as name, prorettype = 'trigger'::regtype as is_trigger
  from pg_proc p where prosecdef and pronamespace = 'public'::regnamespace order by 1`;

it('a role calls a function that runs with the rights of its owner only if db/roles.ts says so', async () => {
  const rows = await database.sql<{ name: string; role: string }[]>`
    select p.oid::regprocedure::text as name, rolname as role from pg_proc p, pg_roles r
    where prosecdef and pronamespace = 'public'::regnamespace
      and rolname = any(${DATABASE_ROLES.map(roleName)}::text[]) and has_function_privilege(r.oid, p.oid, 'execute')`;
  const given = Object.entries(FUNCTION_RIGHTS).flatMap(([name, roles]) =>
    roles.map((role) => `${name} ${roleName(role)}`),
  );
  expect(rows.map(({ name, role }) => `${name} ${role}`).toSorted()).toEqual(given.toSorted());
});

it.each(DATABASE_ROLES)('%s runs no trigger function of the owner on a table of its own', async (role) => {
  const triggers = (await ownerFunctions()).filter(({ is_trigger }) => is_trigger);
  expect(triggers.length).toBeGreaterThan(0);
  // A role may make no temporary table: its owner makes one and gives it to the role.
  await session.unsafe(`create temp table own (a int); alter table own owner to ${roleName(role)}`);
  await session.unsafe(`set role ${roleName(role)}`);
  try {
    for (const { name } of triggers)
      await expect(
        session.unsafe(`create trigger t before insert on own for each row execute function ${name}`),
        name,
      ).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  } finally {
    await session.unsafe('reset role; drop table own');
  }
});

it('a role that writes a log, a game or an event still runs the triggers of those tables', async () => {
  await session.unsafe(`set role ${roleName('worker')}`);
  try {
    await recordAudit(session, [
      { actor: 'prune', actor_kind: 'system', action: 'kyc.expire', subject: 'application:acme' },
    ]);
  } finally {
    await session.unsafe('reset role');
  }
  expect(await listAudit(database.sql, { limit: 1 })).toMatchObject([{ entry_id: 1, actor: 'prune' }]);
  expect(await verifyAudit(database.sql)).toMatchObject({ entries: 1, broken: null });
});

it('the logins of the API and the KYC desk take no advisory lock, and no role one that outlives a transaction', async () => {
  const may = await database.sql<{ name: string; role: string }[]>`
    select rolname as role, p.oid::regprocedure::text as name from pg_proc p, pg_roles r
    where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_'
      and rolname = any(${DATABASE_ROLES.map(roleName)}::text[]) and has_function_privilege(r.oid, p.oid, 'execute')
    order by 1`;
  expect(may.filter(({ name }) => !name.includes('_xact_'))).toEqual([]);
  const lockers = new Set(may.map(({ role }) => role));
  expect(lockers).toContain(roleName('worker'));
  expect([roleName('api'), roleName('kyc_desk')].filter((role) => lockers.has(role))).toEqual([]);
  // Functions of the owner take some for them.
  const inside = await database.sql<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where prosecdef and pronamespace = 'public'::regnamespace and prosrc ~ 'advisory_'`;
  const called = inside.flatMap(({ name }) => (FUNCTION_RIGHTS[name] ?? []).map((role) => `${role} ${name}`));
  expect(called.filter((text) => /^(api|kyc_desk) /.test(text))).toEqual(['api place_events(text,integer)']);
});
