import { alterRole } from '#db/alter-role.ts';
import type { Database } from '#db/client.ts';
import { findLeftToSuperuser } from '#db/left-to-superuser.ts';
import { allowLogins, type RoleUrls } from '#db/role-logins.ts';
import { DATABASE_ROLES, type DatabaseRole, FUNCTION_RIGHTS, QUEUE_WRITERS, roleName } from '#db/roles.ts';
import { firstRow, onlyValue } from '#db/rows.ts';
import { INSUFFICIENT_PRIVILEGE, isPostgresError } from '#db/sqlstate.ts';
import { TABLE_RIGHTS } from '#db/table-rights.ts';
import { coerceError } from '#src/errors.ts';

/** Creates the roles that do not exist. Another database of the cluster may create them at the same time. */
const createRoles = async (sql: Database): Promise<string[]> => {
  const names = DATABASE_ROLES.map(roleName);
  const existing = await sql<
    { rolname: string }[]
  >`select rolname from pg_roles where rolname = any(${names}::text[])`;
  const missing = names.filter((name) => !existing.some(({ rolname }) => rolname === name));
  const [me] = await sql<{ name: string; may_create: boolean }[]>`
    select rolname as name, rolsuper or rolcreaterole as may_create from pg_roles where rolname = current_user`;
  if (missing.length > 0 && me?.may_create !== true) {
    const statements = missing.map((name) => `create role ${name};`).join(' ');
    return [
      `Every process uses the user of DATABASE_URL, because ${me?.name} may not create a role for each. If you want such roles, let a superuser run: ${statements} Then run npx catalogue migrate again.`,
    ];
  }
  for (const name of missing) {
    await sql.unsafe(
      `do $$ begin create role ${name}; exception when duplicate_object or unique_violation then null; end $$`,
    );
  }
  return [];
};

/** No role takes more than this part of the server's connections, so a stolen login leaves room for the others. */
const CONNECTIONS_SHARE = 0.6;
/** The limit for sessions that do not set it themselves; every process of ours does (db/client.ts). */
const IDLE_IN_TRANSACTION = '2min';

/**
 * Limits the connections and idle transactions of each role, resets its other settings, revokes the other roles from it, and
 * makes the owner a member of it, so that `end_overdue_sessions` may end its sessions. A login that is a member of a role
 * does not have these limits.
 */
const limitRoles = async (sql: Database): Promise<string[]> => {
  const names = DATABASE_ROLES.map(roleName);
  const rows = await sql<
    { name: string; owner: string; database: string; most: number; is_member: boolean }[]
  >`
    select rolname as name, quote_ident(current_user) as owner, quote_ident(current_database()) as database,
           pg_has_role(current_user, oid, 'usage') as is_member,
           floor(current_setting('max_connections')::int * ${CONNECTIONS_SHARE}::float8)::int as most
    from pg_roles where rolname = any(${names}::text[])`;
  // Before Postgres 15 each role may grant itself to others.
  const granted = await sql<{ role: string; member: string; grantor: string }[]>`
    select roleid::regrole::text as role, member::regrole::text, grantor::regrole::text from pg_auth_members
    where pg_get_userbyid(roleid) = any(${names}::text[]) and pg_get_userbyid(member) = any(${names}::text[])`;
  const limits = rows.flatMap(({ name, database, most, is_member }) => [
    // A role may change its own settings, such as default_transaction_read_only.
    `alter role ${name} reset all`,
    `alter role ${name} in database ${database} reset all`,
    `alter role ${name} connection limit ${most}`,
    `alter role ${name} in database ${database} set idle_in_transaction_session_timeout = '${IDLE_IN_TRANSACTION}'`,
    ...(is_member ? [] : [`grant ${name} to current_user`]),
  ]);
  const revokes = granted.map(
    ({ role, member, grantor }) => `revoke ${role} from ${member} granted by ${grantor}`,
  );
  const statements = [...revokes, ...limits];
  try {
    for (const statement of statements) await alterRole(sql, statement);
    return [];
  } catch (thrown) {
    const error = coerceError(thrown);
    if (!isPostgresError(error, INSUFFICIENT_PRIVILEGE)) throw error;
    return [
      `The user of DATABASE_URL may not limit the roles of the processes, or end their sessions. Let a superuser run: ${statements.join('; ').replaceAll('current_user', rows[0]?.owner ?? '')};`,
    ];
  }
};

/**
 * Finds logins that are members of our roles, and whose sessions `end_overdue_sessions` cannot end for want of a right.
 * @returns what a superuser must run, as sentences
 */
const findForeignLogins = async (sql: Database): Promise<string[]> => {
  const rows = await sql<{ login: string; owner: string }[]>`
    select quote_ident(rolname) as login, quote_ident(current_user) as owner from pg_roles
    where rolcanlogin and is_process(oid) and not pg_has_role(oid, 'usage')
      and not pg_has_role('pg_signal_backend', 'usage') order by 1`;
  if (rows.length === 0) return [];
  const logins = rows.map(({ login }) => login).join(', ');
  const grants = rows.map(({ login, owner }) => `grant ${login} to ${owner};`).join(' ');
  const problem = `The user of DATABASE_URL may not end sessions of ${logins}, which then block others for ever.`;
  return [`${problem} Let a superuser run: ${grants}`];
};

/** Functions that create large objects. No process uses them. By default every login may call them, and so fill the disk. */
const LARGE_OBJECTS = ['lo_creat(integer)', 'lo_create(oid)', 'lo_from_bytea(oid,bytea)'];

/** Roles that take advisory locks themselves, not by a function of the owner. If the queue is in Postgres, BullMQ takes some too. */
const LOCKERS: readonly DatabaseRole[] = ['worker', 'media', 'operator'];

const QUEUE_SCHEMA = 'bullmq';

/**
 * Revokes what the roles have and grants what db/roles.ts and db/table-rights.ts say, in one transaction, so that no running
 * process is without a right. @returns what a superuser must do, in sentences
 */
const grantRights = (sql: Database): Promise<string[]> =>
  sql.begin(async (tx) => {
    const rows = await tx<{ rolname: string }[]>`
      select rolname from pg_roles where rolname = any(${DATABASE_ROLES.map(roleName)}::text[])`;
    const roles = DATABASE_ROLES.filter((role) => rows.some(({ rolname }) => rolname === roleName(role)));
    if (roles.length === 0) return [];
    const all = roles.map(roleName).join(', ');
    // What everybody was granted, the roles have too.
    const everybody = `public, ${all}`;
    const tables = Object.keys(TABLE_RIGHTS).map((table) => `public.${table}`);
    const grants = Object.entries(TABLE_RIGHTS).flatMap(([table, rights]) =>
      roles.flatMap((role) =>
        rights[role] === undefined ? [] : `grant ${rights[role]} on public.${table} to ${roleName(role)}`,
      ),
    );
    const owned = await tx<{ name: string }[]>`
      select oid::regprocedure::text as name from pg_proc
      where prosecdef and pronamespace = 'public'::regnamespace`;
    const functions = Object.entries(FUNCTION_RIGHTS).flatMap(([name, callers]) =>
      roles
        .filter((role) => callers.includes(role))
        .map((role) => `grant execute on function public.${name} to ${roleName(role)}`),
    );
    const locks = await tx<{ name: string }[]>`
      select oid::regprocedure::text as name from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_'`;
    const builtIns = [...LARGE_OBJECTS, ...locks.map(({ name }) => name)];
    const transactionLocks = builtIns.filter((name) => name.includes('_xact_'));
    const queue = await firstRow(tx`select from pg_namespace where nspname = ${QUEUE_SCHEMA}`);
    const lockers = roles.filter(
      (role) => LOCKERS.includes(role) || (queue !== undefined && QUEUE_WRITERS.includes(role)),
    );
    const writers = roles.filter((role) => QUEUE_WRITERS.includes(role));
    const grantTo = (some: readonly DatabaseRole[], what: string): string[] =>
      some.length === 0 ? [] : [`grant ${what} to ${some.map(roleName).join(', ')}`];
    const queueGrants =
      queue === undefined
        ? []
        : [
            `revoke all on schema ${QUEUE_SCHEMA} from ${everybody}`,
            `revoke all on all tables in schema ${QUEUE_SCHEMA} from ${everybody}`,
            `revoke all on all sequences in schema ${QUEUE_SCHEMA} from ${everybody}`,
            ...grantTo(writers, `usage on schema ${QUEUE_SCHEMA}`),
            ...grantTo(writers, `select, insert, update, delete on all tables in schema ${QUEUE_SCHEMA}`),
            // A row of it keeps each process from starting, and `migrate` from mending it.
            `revoke insert, update, delete on ${QUEUE_SCHEMA}.migration from ${all}`,
            ...grantTo(writers, `usage on all sequences in schema ${QUEUE_SCHEMA}`),
          ];
    const database = await onlyValue(tx<{ name: string }[]>`select quote_ident(current_database()) as name`);
    const statements = [
      'revoke create on schema public, drizzle from public',
      `revoke all on schema public, drizzle from ${all}`,
      `revoke all on all tables in schema drizzle from ${everybody}`,
      `revoke all on all sequences in schema public from ${everybody}`,
      // If the user may not revoke this, Postgres warns and changes nothing.
      `revoke create, temporary on database ${database} from ${everybody}`,
      // Sessions that take a lock in turns would stop a chore for ever, and `end_overdue_sessions` would end none of them.
      `revoke execute on function ${builtIns.join(', ')} from ${everybody}`,
      ...grantTo(lockers, `execute on function ${transactionLocks.join(', ')}`),
      `revoke all on ${tables.join(', ')} from ${everybody}`,
      `grant usage on schema public, drizzle to ${all}`,
      `grant select on drizzle.__drizzle_migrations to ${all}`,
      `grant usage on all sequences in schema public to ${all}`,
      `revoke all on sequence public.event_positions, public.stream_positions from ${all}`,
      ...grants,
      `revoke execute on function ${owned.map(({ name }) => name).join(', ')} from ${everybody}`,
      ...functions,
      ...queueGrants,
    ];
    await tx.unsafe(statements.join(';\n'));
    return findLeftToSuperuser(tx, { all: builtIns, transactionLocks }, lockers);
  });

/**
 * Creates the roles of the processes and grants them their rights on this database. Repeatable. A role whose URL is given
 * may log in with the password of that URL.
 * @param sql the owner of the tables; the queue's schema exists already if it is in Postgres
 * @returns what the administrator must do, in sentences; until that is done, all processes can use one role
 */
export const grantRoles = async (sql: Database, urls: RoleUrls): Promise<string[]> => {
  const missing = await createRoles(sql);
  const logins = missing.length > 0 ? [] : await allowLogins(sql, urls);
  const limits = missing.length > 0 ? [] : await limitRoles(sql);
  const left = await grantRights(sql);
  const foreign = await findForeignLogins(sql);
  return [...missing, ...logins, ...limits, ...left, ...foreign];
};
