import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { grantRoles } from '#db/grant-roles.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { DATABASE_ROLES, roleName } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';
import { asAdmin } from '#test/support/as-admin.ts';

const name = `plain_${randomUUID().replaceAll('-', '')}`;
const adminUrl = inject('adminDatabaseUrl');
const urlOf = (user?: string): string => {
  const url = Object.assign(new URL(adminUrl), { pathname: name });
  return (user === undefined ? url : Object.assign(url, { username: user, password: 'plain' })).href;
};
beforeAll(async () => {
  // As the guide has it. Before Postgres 15 everybody may create in the schema public, and a superuser owns it.
  await asAdmin(adminUrl, (sql) => sql.unsafe(`create role ${name} login createrole password 'plain'`));
  await asAdmin(adminUrl, (sql) => sql.unsafe(`create database ${name} owner ${name} template template0`));
  await asAdmin(urlOf(), (sql) =>
    sql.unsafe('alter schema public owner to current_user; grant create on schema public to public'),
  );
  await migrateDatabase(urlOf(name));
});
afterAll(async () => {
  await asAdmin(adminUrl, (sql) => sql.unsafe(`drop database ${name} with (force)`));
  await asAdmin(adminUrl, (sql) => sql.unsafe(`drop role ${name}`));
});

const TAKEN = {
  'a large object': 'select lo_create(0)',
  'a lock that outlives its transaction': 'select pg_advisory_lock(1)',
  'a function that may stand in for ours': 'create function public.own() returns int return 1',
  'a table': 'create table public.own (a int)',
};
const LOCK = 'select pg_advisory_xact_lock(1)';
const LOCKERS = ['worker', 'media', 'operator'];

/** What a role may do of this, without a trace. */
const mayOf = (role: string, acts: Record<string, string>) =>
  asAdmin(urlOf(), async (sql) => {
    const may: string[] = [];
    for (const [act, statement] of Object.entries(acts)) {
      const tried = sql.begin(async (tx) => {
        await tx.unsafe(`set local role ${role}`);
        await tx.unsafe(statement);
        throw new Error('undone');
      });
      const error: { code?: string; message?: string } = await tried.catch((thrown) => thrown);
      if (error.message === 'undone') may.push(act);
      else expect(error).toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    }
    return may;
  });

it('an owner who is no superuser is told what a superuser must take from every login, and nothing is left after it', async () => {
  const grant = () => asAdmin(urlOf(name), (sql) => grantRoles(sql, {}));
  const told = (notes: string[]) => notes.filter((note) => note.includes('grants to every login'));
  const [note, ...others] = told(await grant());
  expect(others).toEqual([]);
  expect(await mayOf(roleName('api'), TAKEN)).toEqual(Object.keys(TAKEN));
  const statements = note?.split('Let a superuser run in this database: ')[1] ?? '';
  await asAdmin(urlOf(), (sql) => sql.unsafe(statements));
  expect(told(await grant())).toEqual([]);
  for (const role of DATABASE_ROLES) {
    expect([role, await mayOf(roleName(role), TAKEN)]).toEqual([role, []]);
    expect([role, await mayOf(roleName(role), { LOCK })]).toEqual([
      role,
      LOCKERS.includes(role) ? ['LOCK'] : [],
    ]);
  }
  // The owner still migrates.
  expect(await migrateDatabase(urlOf(name))).toBe(0);
});
