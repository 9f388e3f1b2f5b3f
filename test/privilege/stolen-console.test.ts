import { beforeEach, expect, it } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { listReasons, saveReason } from '#db/queries/reasons.ts';
import { countRefusal } from '#db/queries/sign-in.ts';
import { TALK_REFUSED } from '#db/sqlstate.ts';
import { operate } from '#src/operations/operate.ts';
import { approve, requestApproval } from '#src/operations/requests.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addTestOperator } from '#test/support/console.ts';
import { addToken } from '#test/support/factories.ts';
import { openSessions, operatorCaller, testPlatform } from '#test/support/operate.ts';

const { database, attempt, expectRefused } = useStolenLogins();

beforeEach(async () => {
  const { sql } = database;
  await sql`truncate operators, approvals cascade`;
  await addTestOperator(sql, 'adam', 'admin');
  await addTestOperator(sql, 'olga', 'reviewer');
  for (const login of ['kim', 'kai']) await addTestOperator(sql, login, 'kyc_officer');
  await sql`delete from sign_in_links`;
  await sql`
    insert into operators (login, name, roles, oidc_subject)
    values ('boss', 'Boss', '{admin}', 'issuer boss'), ('kira', 'Kira', '{kyc_officer}', 'issuer kira')`;
  await openSessions(sql);
});

const link = (login: string, expires = "now() + interval '15 minutes'") =>
  `insert into sign_in_links (link_hash, login, expires_at) values ('\\x01', '${login}', ${expires})`;

it('a stolen console makes no KYC officer', async () => {
  await expectRefused('console', [
    "insert into operators (login, name, roles) values ('puppet', 'P', '{kyc_officer}')",
    "insert into operators (login, name, roles, oidc_subject) values ('puppet', 'P', '{kyc_officer}', 'issuer puppet')",
    "update operators set roles = '{reviewer,kyc_officer}' where login = 'olga'",
    "update operators set roles = '{admin,kyc_officer}' where login = 'boss'",
    "update operators set oidc_subject = 'issuer evil' where login = 'kira'",
    "update operators set login = 'kim2' where login = 'kim'",
  ]);
});

it('a stolen console opens the sign-in of no KYC officer, and of nobody who signs in by OIDC', async () => {
  await expectRefused('console', [
    "update operators set password_hash = 'x' where login = 'kim'",
    "update operators set password_hash = 'x', roles = '{}' where login = 'kim'",
    link('kim'),
    link('kira'),
    link('boss'),
    "update sign_in_links set login = 'kim'",
    // The next sign-in at the KYC desk makes an officer of this person, if a group says so.
    "update operators set password_hash = (select password_hash from operators where login = 'olga') where login = 'boss'",
  ]);
  // A link of somebody else ends before that person could become an officer by a request.
  expect(await attempt('console', link('olga', "'infinity'"))).toBe(1);
  expect(
    await database.sql`select from sign_in_links where expires_at > now() + interval '16 minutes'`,
  ).toEqual([]);
  // Nor does one that was made before.
  await database.sql`update operators set roles = '{reviewer,kyc_officer}' where login = 'olga'`;
  expect(await database.sql`select from sign_in_links where login = 'olga'`).toEqual([]);
  await database.sql`update operators set roles = '{reviewer}' where login = 'olga'`;
  // Who is no officer any more is no officer again without a request.
  expect(await attempt('console', "update operators set roles = '{}' where login = 'kim'")).toBe(1);
  expect(await attempt('console', "update operators set password_hash = null where login = 'kim'")).toBe(1);
  await expectRefused('console', ["update operators set roles = '{kyc_officer}' where login = 'kim'"]);
});

it('a stolen console approves no officer, and uses no approval twice, late, or for another act', async () => {
  const adam = operatorCaller('adam', 'admin');
  const platform = testPlatform(database.sql);
  const asked = { kind: 'officer', subject: 'operator:kim', act: 'link', reason: 'lost it' } as const;
  const { approval_id } = await operate(requestApproval, asked, adam, platform);
  const row = `where approval_id = '${approval_id}'`;
  await expectRefused('console', [
    `update approvals set approved_by = 'kai', approved_at = now() ${row}`,
    `insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at, approved_by, approved_at)
     values (gen_random_uuid(), 'officer', 'operator:kim', 'x', 'x', 'adam', now() + interval '1 hour', 'kai', now())`,
    link('kim'),
  ]);
  await operate(approve, { approval_id, kind: 'officer' }, operatorCaller('kai', 'kyc_officer'), platform);
  const use = `update approvals set used_at = now() ${row}`;
  await expectRefused('console', [
    link('kim'),
    `${use}; ${link('kai')}`,
    `${use}; update operators set password_hash = 'x' where login = 'kim'`,
    `update approvals set approved_at = now() + interval '1 year' ${row}`,
  ]);
  // Nor by a transaction that began in time.
  await database.sql`
    update approvals set approved_at = now() - interval '14 minutes 59 seconds' where approval_id = ${approval_id}`;
  await expectRefused('console', [`select pg_sleep(1.5); ${use}; ${link('kim')}`]);
  await database.sql`update approvals set approved_at = now() where approval_id = ${approval_id}`;
  expect(await attempt('console', `${use}; ${link('kim')}`)).not.toBe('refused');
  await expectRefused('console', [`${use}; ${link('kim')}`, `update approvals set used_at = null ${row}`]);
});

it('a stolen console uses the approval of an operator for what it says alone', async () => {
  const adam = operatorCaller('adam', 'admin');
  const platform = testPlatform(database.sql);
  const useOf = async (login: string, act: 'add' | 'roles', roles: ('reviewer' | 'kyc_officer')[]) => {
    const asked = { kind: 'officer', subject: `operator:${login}`, act, roles, reason: 'new' } as const;
    const { approval_id } = await operate(requestApproval, asked, adam, platform);
    await operate(approve, { approval_id, kind: 'officer' }, operatorCaller('kai', 'kyc_officer'), platform);
    return `update approvals set used_at = now() where approval_id = '${approval_id}'`;
  };
  const asOfficer = (login: string) =>
    `update operators set roles = '{kyc_officer}' where login = '${login}'`;
  // Who approves that somebody is added does not open the sign-in of an officer whose login it is.
  await expectRefused('console', [`${await useOf('kim', 'add', ['kyc_officer'])}; ${link('kim')}`]);
  await expectRefused('console', [`${await useOf('olga', 'roles', ['reviewer'])}; ${asOfficer('olga')}`]);
  await expectRefused('console', [`${await useOf('adam', 'add', ['kyc_officer'])}; ${asOfficer('adam')}`]);
  const add = "insert into operators (login, name, roles) values ('nora', 'N', '{kyc_officer}')";
  expect(
    await attempt('console', `${await useOf('nora', 'add', ['kyc_officer'])}; ${add}; ${link('nora')}`),
  ).not.toBe('refused');
});

it('who is enabled by the console counts as the second person after a day, and is no KYC officer', async () => {
  await database.sql`update operators set status = 'disabled' where login in ('kim', 'olga')`;
  await attempt(
    'console',
    "update operators set status = 'active', counts_at = '-infinity' where login = 'olga'",
  );
  expect(
    await database.sql`select login from operators where counts_at > now() + interval '23 hours'`,
  ).toEqual([{ login: 'olga' }]);
  await expectRefused('console', ["update operators set status = 'active' where login = 'kim'"]);
});

it('a stolen console or KYC desk delays the second person by no more than that day', async () => {
  for (const role of ['console', 'kyc_desk'] as const)
    expect(await attempt(role, "update operators set counts_at = 'infinity'")).not.toBe('refused');
  expect(
    await database.sql`select login from operators where counts_at > now() + interval '25 hours'`,
  ).toEqual([]);
});

it('a stolen console does not shorten that day by a time zone whose clocks go forward within it', async () => {
  const { sql } = database;
  await sql`update operators set status = 'disabled' where login = 'olga'`;
  // In half a minute by 23 hours and 58 minutes.
  const [zone] = await sql<{ name: string }[]>`
    select 'AAA0BBB-23:58,' || extract(doy from change) - 1 || '/' || change::time(0) || ','
           || (extract(doy from change)::int + 30) % 365 as name
    from (select now() at time zone 'UTC' + interval '30 seconds' as change) as soon`;
  const enable = "update operators set status = 'active' where login = 'olga'";
  expect(await attempt('console', `set local time zone '${zone?.name}'; ${enable}`)).not.toBe('refused');
  expect(await sql`select login from operators where counts_at > now() + interval '23 hours'`).toEqual([
    { login: 'olga' },
  ]);
});

it.each(['console', 'operator_api', 'operator'] as const)('a stolen %s revives no token', async (role) => {
  const { sql } = database;
  const { token_id } = await addToken(sql, null);
  expect(await attempt(role, `update api_tokens set revoked_at = now() where token_id = '${token_id}'`)).toBe(
    1,
  );
  await expectRefused(role, ['update api_tokens set revoked_at = null']);
});

it.each(['console', 'operator_api'] as const)(
  'a stolen %s writes no act of the desk to the audit log',
  async (role) => {
    const entry = (action: string, subject = 'application:acme', details = {}) =>
      `insert into audit_log (actor, actor_kind, action, subject, details)
       values ('kim', 'operator', '${action}', '${subject}', '${JSON.stringify(details)}')`;
    const officer = { kind: 'officer', act: 'add' };
    await expectRefused(role, [
      entry('kyc.reveal'),
      entry('kyc.reveal '),
      entry('kyc.Reveal'),
      entry('kyc.retain'),
      entry('approval.approve'),
      entry('approval.request'),
      entry('approval.approve', 'Application:acme', { kind: 'reveal' }),
      entry('approval.approve', 'operator:olga', officer),
      entry('approval.approve', 'operator:olga'),
      entry('approval.decline', 'operator:olga', officer),
      entry('operator.password', 'operator:kim'),
      // No operator has this login, and a reader takes it for that of the officer.
      entry('operator.password', 'operator:KIM'),
    ]);
    const own = role === 'console' ? 1 : 'refused';
    expect(await attempt(role, entry('approval.use', 'operator:olga', officer))).toBe(own);
    expect(await attempt(role, entry('approval.approve', 'operator:olga', { kind: 'reviewer' }))).toBe(own);
    const signIn = (site: string) => entry('session.sign_in', 'operator:kim', { by: 'password', site });
    const refusal = (details = {}) => entry('access.refuse', 'page:/requests', details);
    await expectRefused(role, [signIn('kyc_desk'), refusal(), refusal({ site: 'kyc_desk' })]);
    for (const said of [signIn('console'), refusal({ site: 'console' })])
      expect(await attempt(role, said)).toBe(own);
    expect(await attempt(role, entry('kyc.pull'))).toBe(1);
    expect(await attempt(role, entry('approval.request', 'run:1'))).toBe(1);
  },
);

it.each(['console', 'operator_api'] as const)(
  'a stolen %s sends no test events of unknown applications, which each look for due events would read until they are old',
  (role) => expectRefused(role, ["select send_test_event('unknown')"]),
);

it('a stolen operator API keeps no refused sign-in of a site from the log: each login counts those of its own', async () => {
  const count = (role: 'operator_api' | 'kyc_desk') =>
    countRefusal(database.as(role), 'session.refuse operator kim');
  await count('operator_api');
  expect([await count('operator_api'), await count('kyc_desk')]).toEqual([2, 1]);
});

it('a stolen operator API enables no operator and approves nothing, in the log either', async () => {
  await database.sql`update operators set status = 'disabled' where login in ('kim', 'adam')`;
  expect(await attempt('operator_api', "update operators set status = 'disabled'")).toBeGreaterThan(0);
  await expectRefused('operator_api', [
    "update operators set status = 'active' where login = 'kim'",
    "update operators set status = 'active' where login = 'adam'",
    "insert into audit_log (actor, actor_kind, action, subject) values ('kim', 'operator', 'approval.approve', 'run:1')",
  ]);
});

it('a stolen console ends no checks of the pictures of passed games', async () => {
  const { sql } = database;
  await sql`
    insert into pictures (picture_id, url, next_check_at) values (gen_random_uuid(), 'https://cdn.example/1.png', now())`;
  await expectRefused('console', ['update pictures set next_check_at = null']);
  expect(await attempt('console', 'update pictures set next_check_at = now()')).toBe(1);
});

it('adds a thousand reasons at most, and the words of each can still be changed', async () => {
  const { sql } = database;
  const add = (tx: Queryable, from: number, to: number) => tx`
    insert into reasons (code, label, position) select 'forged_' || n, 'x', 1 from generate_series(${from}::int, ${to}::int) n`;
  await expect(add(database.as('console'), 1, 1_000)).rejects.toMatchObject({ code: TALK_REFUSED });
  await sql.begin(async (tx) => {
    await add(tx, 1, 1_000 - (await listReasons(tx)).length);
    const other = { code: 'other', label: 'Other', text: '' };
    expect(await saveReason(tx, other)).toMatchObject(other);
    await expect(tx.savepoint((within) => saveReason(within, { ...other, code: 'new' }))).rejects.toThrow(
      '1,000 reasons',
    );
    await tx`delete from reasons where code like 'forged_%'`;
  });
});
