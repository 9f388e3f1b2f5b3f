import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import type { Site } from '#src/contract/roles.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import {
  addTestOperator,
  PASSWORD_HASH,
  signIn,
  startTestConsole,
  type TestConsole,
} from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { startTestDesk, type TestDesk } from '#test/support/kyc-desk.ts';

const { database, attempt, expectRefused } = useStolenLogins();
let console: TestConsole;
let desk: TestDesk;
beforeAll(async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'reviewer');
  await addTestOperator(sql, 'adam', 'admin');
  await addTestOperator(sql, 'kim', 'kyc_officer');
  await addTestOperator(sql, 'both', 'admin', 'kyc_officer');
  await sql`
    insert into operators (login, name, roles, oidc_subject) values ('boss', 'Boss', '{admin}', 'issuer boss')`;
  [console, desk] = await Promise.all([startTestConsole(database), startTestDesk(database)]);
});
afterAll(() => Promise.all([console.stop(), desk.stop()]));

const forge = async (login: string, site: Site) => {
  const secret = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(secret).digest('hex');
  const statement = `insert into operator_sessions (session_hash, login, site) values ('\\x${hash}', '${login}', '${site}')`;
  return { secret, hash, statement };
};
const statusOf = async (url: string, path: string, cookie: string): Promise<number> =>
  (await fetch(new URL(path, url), { headers: { cookie }, redirect: 'manual' })).status;

it('a stolen KYC desk opens no session of the console', async () => {
  const own = await forge('adam', 'console');
  await expectRefused('kyc_desk', [own.statement]);
  // A session of the desk opens no page of the console, under either name of the cookie.
  const desks = await forge('adam', 'kyc_desk');
  expect(await attempt('kyc_desk', desks.statement)).toBe(1);
  expect(await statusOf(desk.url, '/account', `catalogue_desk_session=${desks.secret}`)).toBe(200);
  for (const name of ['catalogue_session', 'catalogue_desk_session'])
    expect(await statusOf(console.url, '/operators', `${name}=${desks.secret}`)).toBe(303);
  await expectRefused('kyc_desk', ["update operator_sessions set site = 'console'"]);
});

it('a stolen KYC desk takes no session of the console over', async () => {
  const cookie = await signIn(console.url, 'adam');
  const { hash } = await forge('adam', 'console');
  await expectRefused('kyc_desk', [
    `update operator_sessions set session_hash = '\\x${hash}' where site = 'console'`,
    "update operator_sessions set confirmed_at = now() where site = 'console'",
    "update operator_sessions set login = 'olga'",
  ]);
  expect(await statusOf(console.url, '/operators', cookie)).toBe(200);
});

it('a stolen KYC desk sees at the console what an officer whose password it sets sees there, and no more', async () => {
  const { sql } = database;
  await sql`update operators set password_hash = null where login in ('adam', 'olga', 'kim')`;
  const set = `update operators set password_hash = '${PASSWORD_HASH}' where login =`;
  await expectRefused('kyc_desk', [`${set} 'adam'`, `${set} 'olga'`]);
  expect(await attempt('kyc_desk', `${set} 'kim'`)).toBe(1);
  const cookie = await signIn(console.url, 'kim');
  expect(await statusOf(console.url, '/games', cookie)).toBe(200);
  expect(await statusOf(console.url, '/operators', cookie)).toBe(403);
  await sql`update operators set password_hash = ${PASSWORD_HASH} where login in ('adam', 'olga')`;
});

it('no other process opens a session of either site', async () => {
  for (const role of ['worker', 'api', 'media', 'operator'] as const)
    for (const site of ['console', 'kyc_desk'] as const)
      await expectRefused(role, [(await forge('adam', site)).statement]);
  await expectRefused('console', [(await forge('kim', 'kyc_desk')).statement]);
});

it('a stolen KYC desk makes nobody an administrator or a reviewer', async () => {
  await expectRefused('kyc_desk', [
    "insert into operators (login, name, roles) values ('evil', 'e', '{admin}')",
    "insert into operators (login, name, roles) values ('evil', 'e', '{kyc_officer}')",
    "insert into operators (login, name, roles, oidc_subject) values ('evil', 'e', '{admin}', 'issuer evil')",
    "insert into operators (login, name, roles, password_hash) values ('evil', 'e', '{}', 'x')",
    "update operators set roles = '{admin}' where login = 'kim'",
    "update operators set roles = '{}' where login = 'olga'",
    "update operators set roles = '{admin,reviewer}' where login = 'boss'",
    "update operators set name = 'Adam' where login = 'olga'",
    "update operators set password_hash = 'x' where login = 'adam'",
    "update operators set password_hash = 'x' where login = 'boss'",
    "update operators set roles = '{admin,kyc_officer}', password_hash = 'x' where login = 'boss'",
    "update operators set status = 'disabled' where login = 'adam'",
    "update operators set oidc_subject = 'issuer evil' where login = 'boss'",
    "insert into sign_in_links (link_hash, login, expires_at) values ('\\x01', 'adam', now() + interval '1 hour')",
    "update sign_in_links set link_hash = '\\x01'",
  ]);
});

it('counts of attempts that a stolen KYC desk leaves behind keep an operator from signing in for an hour at most', async () => {
  const keys = ['address:127.0.0.1', 'login:adam', 'browser:adam', 'sign-ins:adam'];
  const write = (attempts: number, end: string) => `
    insert into sign_in_attempts (attempt_key, attempts, window_ends_at)
    select key, ${attempts}, ${end} from unnest(array['${keys.join("', '")}']) as key
    on conflict (attempt_key) do update set attempts = excluded.attempts, window_ends_at = excluded.window_ends_at`;
  expect(await attempt('kyc_desk', write(-(2 ** 31), "'-infinity'"))).toBe(keys.length);
  // They are counts of this hour: the console refuses with the longest delay, and forgets them.
  expect(await attempt('kyc_desk', write(2 ** 31 - 1, "'infinity'"))).toBe(keys.length);
  await expect(signIn(console.url, 'adam')).rejects.toThrow('sign-in answered 429');
  const [latest] = await database.sql<{ is_bound: boolean }[]>`
    select max(window_ends_at) <= now() + interval '1 hour' as is_bound from sign_in_attempts`;
  expect(latest?.is_bound).toBe(true);
  await database.sql`update sign_in_attempts set window_ends_at = now()`;
  expect(await signIn(console.url, 'adam')).toMatch(/^catalogue_session=/);
  await database.sql`delete from sign_in_attempts`;
});

it('the KYC desk still keeps its officers: of OIDC with their role, of passwords with a new one', async () => {
  for (const statement of [
    "insert into operators (login, name, roles, oidc_subject) values ('kira', 'Kira', '{kyc_officer}', 'issuer kira')",
    "update operators set roles = '{}', name = 'Kira K' where login = 'kira'",
    "update operators set roles = '{kyc_officer}' where login = 'kira'",
    "update operators set roles = '{admin,kyc_officer}' where login = 'boss'",
    "update operators set password_hash = password_hash where login = 'kim'",
    'update operators set last_sign_in_at = now()',
  ])
    expect([statement, await attempt('kyc_desk', statement)]).toEqual([statement, expect.any(Number)]);
});

it('a stolen KYC desk writes no act of the console to the audit log', async () => {
  const entry = (kind: string, action: string, actor = 'olga') =>
    `insert into audit_log (actor, actor_kind, action, subject) values ('${actor}', '${kind}', '${action}', 'game:1')`;
  await expectRefused('kyc_desk', [
    entry('operator', 'game.pass'),
    entry('operator', 'operator.roles'),
    entry('application', 'session.sign_in'),
    entry('command_line', 'kyc.reveal'),
    entry('system', 'kyc.reveal'),
  ]);
  const signIn = (site: Site) =>
    `insert into audit_log (actor, actor_kind, action, subject, details)
     values ('olga', 'operator', 'session.sign_in', 'operator:olga', '{"by": "password", "site": "${site}"}')`;
  const elsewhere = (actor: string, kind: string, action: string) =>
    `insert into audit_log (actor, actor_kind, action, subject) values ('${actor}', '${kind}', '${action}', 'run:1')`;
  await expectRefused('kyc_desk', [
    signIn('console'),
    elsewhere('olga', 'operator', 'session.sign_in'),
    elsewhere('olga', 'operator', 'approval.refuse'),
    elsewhere('catalogue', 'system', 'approval.void'),
  ]);
  expect(await attempt('kyc_desk', signIn('kyc_desk'))).toBe(1);
  const password = (login: string) =>
    `insert into audit_log (actor, actor_kind, action, subject)
     values ('${login}', 'operator', 'operator.password', 'operator:${login}')`;
  await expectRefused('kyc_desk', [password('olga'), password('unknown')]);
  expect(await attempt('kyc_desk', password('kim'))).toBe(1);
  const approval = (action: string, kind: string) =>
    `insert into audit_log (actor, actor_kind, action, subject, details)
     values ('kim', 'operator', 'approval.${action}', 'operator:olga', '{"kind": "${kind}"}')`;
  await expectRefused('kyc_desk', [
    approval('approve', 'reviewer'),
    approval('request', 'officer'),
    approval('use', 'officer'),
  ]);
  expect(await attempt('kyc_desk', approval('approve', 'officer'))).toBe(1);
  // And the console none of the desk.
  await expectRefused('console', [
    entry('operator', 'kyc.reveal'),
    entry('system', 'kyc.reveal', 'catalogue'),
  ]);
});

it('a stolen KYC desk reads no failure of a game, and ends those of KYC pulls alone', async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  for (const operation of ['query_game_list', 'query_game_detail', 'query_cp_kyc'] as const) {
    const failure = {
      application_game_id: operation === 'query_cp_kyc' ? NO_GAME : 'g1',
      kind: 'invalid',
      reasons: [],
    };
    await recordFailures(sql, 'acme', operation, [failure]);
  }
  await expectRefused('kyc_desk', [
    'select application_game_id from ingest_failures',
    'select reasons from ingest_failures',
    'delete from ingest_failures',
    "update ingest_failures set kind = 'x'",
    "insert into ingest_failures (application_id, operation, application_game_id, kind, reasons) values ('acme', 'query_game_list', 'g2', 'x', '[]')",
  ]);
  expect(await attempt('kyc_desk', "select clear_kyc_failure('acme')")).toBe(1);
  expect(await sql`select operation from ingest_failures order by 1`).toEqual([
    { operation: 'query_game_detail' },
    { operation: 'query_game_list' },
  ]);
});
