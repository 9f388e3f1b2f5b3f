import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { upsertGames } from '#db/queries/games.ts';
import { DATABASE_ROLES, type DatabaseRole, roleName } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** SQLSTATE of a broken check. */
const CHECK_VIOLATION = '23514';

const database = useTestDatabase();
/** One session, so that `set role` lasts. */
let session: Database;
/** Roles belong to the cluster, which other tests share. */
const memberOf = Object.fromEntries(
  DATABASE_ROLES.map((role) => [role, `member_${role}_${randomUUID().replaceAll('-', '').slice(0, 12)}`]),
) as Record<DatabaseRole, string>;

beforeAll(async () => {
  const { sql } = database;
  expect(await grantRoles(sql, {})).toEqual([]);
  for (const role of DATABASE_ROLES)
    await sql.unsafe(`create role ${memberOf[role]} in role ${roleName(role)}`);
  session = openDatabase(database.databaseUrl, { max: 1, applicationName: 'process roles test' });
  await addApplication(sql, 'acme');
  await sql`insert into operators (login, name, roles) values ('kim', 'kim', '{kyc_officer}')`;
});
beforeEach(async () => {
  await database.sql`delete from games`;
  await upsertGames(database.sql, 'acme', [fetchedGame()]);
});
afterAll(async () => {
  await session.end();
  for (const member of Object.values(memberOf)) await database.sql.unsafe(`drop role ${member}`);
});

/** Runs a statement and rolls it back. @returns whether the user has the right */
const may = async (user: string, statement: string): Promise<boolean> => {
  await session.unsafe(`set role ${user}`);
  try {
    await session.begin(async (tx) => {
      await tx.unsafe(statement);
      throw new Error('rolled back');
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === undefined) expect(message).toBe('rolled back');
    else expect({ statement, code }).toEqual({ statement, code: INSUFFICIENT_PRIVILEGE });
    return code === undefined;
  } finally {
    await session.unsafe('reset role');
  }
  throw new Error('the transaction was not rolled back');
};

const whoMay = async (nameOf: (role: DatabaseRole) => string, statement: string): Promise<DatabaseRole[]> => {
  const found: DatabaseRole[] = [];
  for (const role of DATABASE_ROLES) if (await may(nameOf(role), statement)) found.push(role);
  return found;
};

describe.each([
  ['a role of a process', roleName],
  ['a user of another name, as a member of such a role,', (role: DatabaseRole) => memberOf[role]],
])('%s', (_title, nameOf) => {
  it('decides on games in the console, by the operator API and on the command line only', async () => {
    for (const status of ['passed', 'rejected']) {
      const decide = `update games set audit_status = '${status}', audit_time = now()`;
      expect(await whoMay(nameOf, decide)).toEqual(['console', 'operator', 'operator_api']);
      const insert = `
        insert into games select (jsonb_populate_record(g, jsonb_build_object(
          'game_id', gen_random_uuid(), 'application_game_id', 'new', 'audit_status', '${status}', 'audit_time', now()))).* from games g`;
      expect(await whoMay(nameOf, insert)).toEqual([]);
      expect(await may('none', insert)).toBe(true);
    }
  });

  it('returns a game to pending in the worker and in media too, and writes what is decided already', async () => {
    await database.sql`update games set audit_status = 'passed', audit_time = now()`;
    const writers = ['worker', 'console', 'media', 'operator', 'operator_api'];
    const reopen = "update games set audit_status = 'pending', audit_time = null";
    expect(await whoMay(nameOf, reopen)).toEqual(writers);
    expect(await whoMay(nameOf, 'update games set audit_status = audit_status')).toEqual(writers);
  });

  it.each([
    ['operator', 'olga', 'game.pass', ['console', 'operator_api']],
    ['operator', 'olga', 'operator.roles', ['console']],
    ['operator', 'kim', 'kyc.reveal', ['kyc_desk']],
    ['operator', 'kim', 'session.sign_out', ['console', 'kyc_desk']],
    // It does not say where.
    ['operator', 'kim', 'session.sign_in', []],
    ['application', 'acme', 'session.sign_in', ['console']],
    ['application', 'acme', 'kyc.reveal', []],
    ['command_line', 'kim', 'kyc.reveal', ['operator']],
    ['system', 'kim', 'kyc.reveal', []],
    ['system', 'worker', 'application.pause', ['worker']],
    ['system', 'prune', 'kyc.expire', ['worker']],
    ['system', 'media', 'game.reopen', ['media']],
    ['system', 'media', 'game.pass', []],
    ['system', 'OIDC provider', 'operator.roles', ['console', 'kyc_desk']],
    ['system', 'catalogue', 'approval.void', ['kyc_desk', 'operator']],
  ])('writes to the audit log that the %s %s did %s in %j only', async (kind, actor, action, writers) => {
    const insert = `
      insert into audit_log (actor, actor_kind, action, subject)
      values ('${actor}', '${kind}', '${action}', 'application:acme')`;
    expect(await whoMay(nameOf, insert)).toEqual(writers);
  });

  it.each([
    ['operator.add', { roles: ['kyc_officer'] }, ['kyc_desk']],
    ['operator.add', { roles: ['viewer', 'admin'] }, ['console']],
    ['operator.roles', { from: ['viewer'], to: ['viewer', 'kyc_officer'] }, ['kyc_desk']],
    ['operator.roles', { from: ['kyc_officer'], to: ['kyc_officer', 'admin'] }, ['console']],
    ['operator.roles', { from: ['viewer', 'kyc_officer'], to: [] }, ['console', 'kyc_desk']],
  ])('writes by the OIDC provider %s %j in %j only', async (action, details, writers) => {
    const insert = `
      insert into audit_log (actor, actor_kind, action, subject, details)
      values ('OIDC provider', 'system', '${action}', 'operator:olga', '${JSON.stringify(details)}')`;
    expect(await whoMay(nameOf, insert)).toEqual(writers);
  });

  it('asks for a second person where the request belongs', async () => {
    const ask = (kind: string, subject = 'application:acme') => `
      insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
      values (gen_random_uuid(), '${kind}', '${subject}', '1', 'why', 'kim', now())`;
    expect(await whoMay(nameOf, ask('withdrawals', `run:${randomUUID()}`))).toEqual([
      'console',
      'operator_api',
    ]);
    for (const kind of ['reveal', 'erase', 'cp-id'])
      expect(await whoMay(nameOf, ask(kind))).toEqual(['kyc_desk']);
  });
});

it('no operator has a role that is no value, which would hide a new role from the triggers that compare them', async () => {
  for (const roles of [['admin', null], [null], ['root']])
    await expect(
      database.sql`update operators set roles = ${roles as string[]}::text[] where login = 'kim'`,
    ).rejects.toMatchObject({ code: CHECK_VIOLATION });
});
