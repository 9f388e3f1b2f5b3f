/** A role of ours that is granted to a user of another name, who logs in. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { endOverdueSessions } from '#db/queries/connections.ts';
import { roleName } from '#db/roles.ts';
import { onlyValue } from '#db/rows.ts';
import { asAdmin } from '#test/support/as-admin.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

const id = randomUUID().replaceAll('-', '');
const [owner, member] = [`owner_${id}`, `member_${id}`];
const adminUrl = inject('adminDatabaseUrl');
const urlOf = (user?: string): string => {
  const url = Object.assign(new URL(adminUrl), { pathname: owner });
  return (user === undefined ? url : Object.assign(url, { username: user, password: 'plain' })).href;
};
const asOwner = <T>(work: (sql: Database) => PromiseLike<T>) => asAdmin(urlOf(owner), work);
const asSuperuser = <T>(work: (sql: Database) => PromiseLike<T>) => asAdmin(urlOf(), work);

beforeAll(async () => {
  await asAdmin(adminUrl, (sql) => sql.unsafe(`create role ${owner} login createrole password 'plain'`));
  await asAdmin(adminUrl, (sql) => sql.unsafe(`create database ${owner} owner ${owner} template template0`));
  await migrateDatabase(urlOf(owner));
  await asSuperuser((sql) =>
    sql.unsafe(
      `create role ${member} login password 'plain'; grant ${roleName('worker')} to ${member}; grant ${roleName('api')} to ${owner}`,
    ),
  );
  // With 0.4 s in the place of each minute.
  const source = await asOwner((sql) =>
    onlyValue(sql<{ text: string }[]>`select pg_get_functiondef('process_sessions()'::regprocedure) as text`),
  );
  const hastened = source
    .replaceAll(/'(\d+) minutes?'/g, (_, minutes) => `'${minutes * 400} milliseconds'`)
    // Other tests have databases of their own in this cluster.
    .replace('or public.is_process(s.usesysid))', ')');
  expect(hastened).not.toEqual(source);
  await asOwner((sql) => sql.unsafe(hastened));
});
afterAll(async () => {
  await asAdmin(adminUrl, (sql) => sql.unsafe(`drop database ${owner} with (force)`));
  await asAdmin(adminUrl, (sql) => sql.unsafe(`drop role ${member}`));
  await asAdmin(adminUrl, (sql) => sql.unsafe(`drop role ${owner}`));
});

const isOpen = async (pid: number): Promise<boolean> =>
  (await asSuperuser((sql) => sql`select from pg_stat_activity where pid = ${pid}`)).length === 1;

/** Opens a session that stays in its transaction. */
const stay = async (url: string, statement: string): Promise<number> => {
  const sql = openDatabase(url, { max: 1, statementMs: 0, keepOpen: true });
  onTestFinished(() => sql.end({ timeout: 1 }));
  await sql`set idle_in_transaction_session_timeout = 0`;
  const pid = await onlyValue(sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
  await sql.unsafe(`begin; ${statement}`);
  return pid;
};

it('a session of such a user keeps no other one from being ended, and migrate says what ends it too', async () => {
  const [theirs, own] = [
    await stay(urlOf(member), 'select pg_advisory_xact_lock(1)'),
    await stay(urlOfRole(urlOf(), 'api'), 'select 1'),
  ];
  await until('the session of the role is ended', async () => {
    await asOwner(endOverdueSessions);
    return !(await isOpen(own));
  });
  expect(await isOpen(theirs)).toBe(true);
  const notes = () => asOwner((sql) => grantRoles(sql, {}));
  const [note = ''] = (await notes()).filter((each) => each.includes(member));
  await asSuperuser((sql) => sql.unsafe(note.split('Let a superuser run: ')[1] ?? ''));
  await until('the session of the user is ended', async () => {
    await asOwner(endOverdueSessions);
    return !(await isOpen(theirs));
  });
  expect((await notes()).filter((each) => each.includes(member))).toEqual([]);
});
