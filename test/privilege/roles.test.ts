import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { allowLogins } from '#db/role-logins.ts';
import { DATABASE_ROLES, type DatabaseRole, roleName } from '#db/roles.ts';
import { TABLE_RIGHTS } from '#db/table-rights.ts';
import { mayRun } from '#test/privilege/may-run.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** One session, so that `set role` lasts. */
let session: Database;
beforeAll(async () => {
  expect(await grantRoles(database.sql, {})).toEqual([]);
  session = openDatabase(database.databaseUrl, { max: 1, applicationName: 'roles test' });
});
afterAll(() => session.end());

const may = (role: DatabaseRole, statement: string) => mayRun(session, role, statement);

const columnsOf = async (): Promise<Map<string, string[]>> => {
  const rows = await database.sql<{ table: string; columns: string[] }[]>`
    select t.relname as table, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class t join pg_attribute a on a.attrelid = t.oid
    where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'v') and a.attnum > 0 and not a.attisdropped
    group by 1`;
  return new Map(rows.map(({ table, columns }) => [table, columns]));
};

/** Asked of Postgres, because triggers refuse rows that a role may insert otherwise. */
const insertable = async (role: DatabaseRole, table: string): Promise<string[]> => {
  const rows = await database.sql<{ name: string }[]>`
    select attname::text as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      and has_column_privilege(${roleName(role)}, attrelid, attnum, 'insert')
    order by attnum`;
  return rows.map(({ name }) => name);
};

/** Columns of a verb in `select, update (a, b)`: all, or those in parentheses. */
const granted = (rights: string | undefined, verb: string, columns: readonly string[]): string[] => {
  const found = new RegExp(`\\b${verb}\\b(?: \\(([^)]*)\\))?`).exec(rights ?? '');
  if (found === null) return [];
  // Postgres wants the column `full` in quotes.
  return found[1] === undefined ? [...columns] : found[1].replaceAll('"', '').split(', ').toSorted();
};

it('every table and view has its line in db/table-rights.ts, and every line its table or view', async () => {
  expect([...(await columnsOf()).keys()].toSorted()).toEqual(Object.keys(TABLE_RIGHTS).toSorted());
});

it('names the statement for a superuser, once, when the owner may not set passwords', async () => {
  const urls = { worker: 'postgres://catalogue_worker:one@db/c', api: 'postgres://catalogue_api:two@db/c' };
  await session.unsafe(`set role ${roleName('media')}`);
  const notes = await allowLogins(session, urls).finally(() => session.unsafe('reset role'));
  expect(notes).toEqual([
    "The user of DATABASE_URL may not set the passwords of catalogue_worker, catalogue_api. If one has no password yet, let a superuser run: alter role catalogue_worker login password '…';",
  ]);
});

describe.each(DATABASE_ROLES)('%s', (role) => {
  it('may do with every table what its line says, and nothing else', async () => {
    for (const [table, columns] of await columnsOf()) {
      const rights = TABLE_RIGHTS[table]?.[role];
      const allowed = async (statementFor: (column: string) => string) => {
        const found: string[] = [];
        for (const column of columns) if (await may(role, statementFor(column))) found.push(column);
        return found;
      };
      const real = {
        table,
        select: await allowed((column) => `select "${column}" from ${table} limit 0`),
        update: await allowed((column) => `update ${table} set "${column}" = default where false`),
        insert: await insertable(role, table),
        delete: await may(role, `delete from ${table} where false`),
        truncate: await may(role, `truncate ${table}`),
        trigger: await may(role, `alter table ${table} disable trigger all`),
      };
      expect(real).toEqual({
        table,
        select: columns.filter((column) => granted(rights, 'select', columns).includes(column)),
        update: columns.filter((column) => granted(rights, 'update', columns).includes(column)),
        insert: columns.filter((column) => granted(rights, 'insert', columns).includes(column)),
        delete: granted(rights, 'delete', columns).length > 0,
        truncate: false,
        trigger: false,
      });
    }
  });

  it('creates nothing in the schemas of the catalogue, and does not change its migrations', async () => {
    for (const statement of [
      'create table public.shadow (a int)',
      'create function public.game_bucket(text) returns int language sql as $$select 1$$',
      "create or replace function count_wraps() returns void language sql as ''",
      'create table drizzle.shadow (a int)',
      'delete from drizzle.__drizzle_migrations',
      'insert into drizzle.migration_progress values (1, 1)',
      'delete from bullmq.migration',
      "insert into bullmq.migration values (99, 'a version from which no process starts', 99)",
      'update bullmq.migration set min_client_version = 99',
      `grant ${roleName('operator')} to ${roleName(role)}`,
    ]) {
      expect({ statement, may: await may(role, statement) }).toEqual({ statement, may: false });
    }
  });
});

it('media reads no token, no KYC record and no operator, and changes nothing of a game but its status', async () => {
  const unreadable = ['api_tokens', 'content_providers', 'operators', 'operator_sessions', 'audit_log'];
  const kyc = Object.keys(TABLE_RIGHTS).filter((table) => table.startsWith('kyc_'));
  for (const table of [...unreadable, ...kyc])
    expect({ table, may: await may('media', `select from ${table}`) }).toEqual({ table, may: false });
  expect(await may('media', 'select access_token from applications')).toBe(false);
  expect(await may('media', 'select access_token_keys from applications')).toBe(false);
  expect(await may('media', "update games set game_icon = '{}'")).toBe(false);
  expect(await may('media', 'delete from picture_pins')).toBe(false);
});

it('the logs are insert-only for every role, also for the writer of the entry', () => {
  for (const log of ['audit_log', 'kyc_access_log'])
    for (const rights of Object.values(TABLE_RIGHTS[log] ?? {}))
      expect(rights).toMatch(/^(select, )?insert( \([a-z_, ]+\))?$/);
});

it('no role deletes by a cascade what it may not delete itself', async () => {
  const cascades = await database.sql<{ parent: string; child: string }[]>`
    select confrelid::regclass::text as parent, conrelid::regclass::text as child
    from pg_constraint where contype = 'f' and confdeltype = 'c' and connamespace = 'public'::regnamespace`;
  expect(cascades.length).toBeGreaterThan(0);
  for (const { parent, child } of cascades)
    for (const role of DATABASE_ROLES)
      if (/\bdelete\b/.test(TABLE_RIGHTS[parent]?.[role] ?? ''))
        expect(TABLE_RIGHTS[child]?.[role] ?? 'nothing', `${role}: ${parent} to ${child}`).toMatch(
          /\bdelete\b/,
        );
});

it('granting again revokes rights that were granted beside the table', async () => {
  await database.sql`grant delete on kyc_access_log to catalogue_operator`;
  await database.sql`grant update (accessed_by) on kyc_access_log to catalogue_operator`;
  await grantRoles(database.sql, {});
  expect(await may('operator', 'delete from kyc_access_log')).toBe(false);
  expect(await may('operator', "update kyc_access_log set accessed_by = 'nobody'")).toBe(false);
});

it('the console writes no request of the KYC desk, and the desk none of the console', async () => {
  await database.sql`insert into operators (login, name, roles) values ('kim', 'kim', '{kyc_officer}')`;
  const insert = (kind: string) => `
    insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
    values (gen_random_uuid(), '${kind}', 'application:acme', '1', 'why', 'kim', now())`;
  for (const [role, own] of [
    ['console', 'withdrawals'],
    ['kyc_desk', 'reveal'],
  ] as const)
    for (const kind of ['reveal', 'erase', 'cp-id', 'withdrawals'])
      expect({ role, kind, may: await may(role, insert(kind)) }).toEqual({
        role,
        kind,
        may: (kind === 'withdrawals') === (own === 'withdrawals'),
      });
});
