import { beforeEach, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { type FourEyes, KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { signInByLink } from '#src/identity/sign-in.ts';
import { revealKycRecord } from '#src/operations/kyc.ts';
import { operate } from '#src/operations/operate.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  linkOperator,
  setRoles,
} from '#src/operations/operators.ts';
import { approve, requestApproval } from '#src/operations/requests.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { addTestOperator } from '#test/support/console.ts';
import { addApplication, testKeys } from '#test/support/factories.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { KIM, openSessions, operatorCaller, testPlatform } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const platform = () => testPlatform(database.sql);
const adam = operatorCaller('adam', 'admin');
const officer = (login: string) => operatorCaller(login, 'kyc_officer');

beforeEach(async () => {
  const { sql } = database;
  await sql`truncate operators, applications, approvals cascade`;
  await addApplication(sql, 'acme');
  await store(sql, testKeys, 'acme', PLANTED);
  await addTestOperator(sql, 'adam', 'admin');
  for (const login of ['kim', 'kai']) await addTestOperator(sql, login, 'kyc_officer');
  await addTestOperator(sql, 'olga', 'reviewer');
  await openSessions(sql);
});

const request = (login: string, asked: object, caller = adam) =>
  operate(
    requestApproval,
    { kind: 'officer', subject: `operator:${login}`, reason: 'joins', ...asked },
    caller,
    platform(),
  );
const approveIt = (approval_id: string, login: string, kind: 'officer' | 'reveal' = 'officer') =>
  operate(approve, { approval_id, kind }, officer(login), platform());
const PUPPET = { login: 'puppet', roles: ['kyc_officer' as const] };

test.each(['kirn', 'k1m', 'k.im', 'o1ga', '0lga', 'unkn0wn', 'cata1ogue'])(
  'the login %s is refused, which looks like another',
  async (login) => {
    const added = operate(addOperator, { login, roles: ['viewer'] }, adam, platform());
    await expect(added).rejects.toThrow(/looks like (kim|olga|unknown|catalogue)/);
  },
);

test('an administrator alone makes no officer, in none of three ways', async () => {
  await expect(operate(addOperator, PUPPET, adam, platform())).rejects.toThrow(ApprovalError);
  await expect(
    operate(setRoles, { login: 'adam', roles: ['admin', 'kyc_officer'] }, adam, platform()),
  ).rejects.toThrow(ApprovalError);
  await expect(operate(linkOperator, { login: 'kim' }, adam, platform())).rejects.toThrow(ApprovalError);
  expect(await database.sql`select from operators where login = 'puppet'`).toHaveLength(0);
  expect(await database.sql`select from sign_in_links where login = 'kim'`).toHaveLength(1);
  const refused = await listAudit(database.sql, { action: 'approval.refuse', limit: 9 });
  expect(refused.map(({ actor, subject }) => [actor, subject])).toEqual([
    ['adam', 'operator:kim'],
    ['adam', 'operator:adam'],
    ['adam', 'operator:puppet'],
  ]);
});

test('other roles, and links of others, take nobody else', async () => {
  await operate(addOperator, { login: 'vera', roles: ['viewer'] }, adam, platform());
  await operate(setRoles, { login: 'vera', roles: ['viewer', 'admin'] }, adam, platform());
  await operate(linkOperator, { login: 'vera' }, adam, platform());
  // An officer keeps the role when another one is added.
  await operate(setRoles, { login: 'kim', roles: ['kyc_officer', 'viewer'] }, adam, platform());
});

test('an officer approves it, and what was approved is done once; the new officer approves nothing for a day', async () => {
  const { sql } = database;
  const asked = await request('puppet', { act: 'add', roles: PUPPET.roles });
  const { approval_id } = asked;
  await expect(operate(addOperator, { ...PUPPET, approval_id }, adam, platform())).rejects.toThrow(
    'not approved yet',
  );
  await expect(approveIt(approval_id, 'adam')).rejects.toThrow('You requested this yourself');
  await expect(approveIt(approval_id, 'olga')).rejects.toThrow('takes the role kyc officer');
  await approveIt(approval_id, 'kim');
  const more = { ...PUPPET, roles: ['kyc_officer' as const, 'admin' as const], approval_id };
  await expect(operate(addOperator, more, adam, platform())).rejects.toThrow('Something else was approved');
  await operate(addOperator, { ...PUPPET, approval_id }, adam, platform());
  await expect(
    operate(addOperator, { ...PUPPET, login: 'puppet2', approval_id }, adam, platform()),
  ).rejects.toThrow(ApprovalError);

  const reveal = { kind: 'reveal' as const, subject: 'application:acme', reason: 'ticket' };
  const wanted = await operate(requestApproval, reveal, officer('kim'), platform());
  await expect(approveIt(wanted.approval_id, 'puppet', 'reveal')).rejects.toThrow('for a day');
  await sql`update operators set counts_at = counts_at - interval '1 day' where login = 'puppet'`;
  await openSessions(sql);
  expect(await approveIt(wanted.approval_id, 'puppet', 'reveal')).toMatchObject({ approved_by: 'puppet' });
});

test('a new link makes an officer a new person: it approves nothing for a day, and an approval given ends', async () => {
  const reveal = { kind: 'reveal' as const, subject: 'application:acme', reason: 'ticket' };
  const wanted = await operate(requestApproval, reveal, officer('kim'), platform());
  const { approval_id } = await request('kai', { act: 'link' });
  await approveIt(approval_id, 'kim');
  const { secret } = await operate(linkOperator, { login: 'kai', approval_id }, adam, platform());
  await signInByLink(database.sql, secret, 'seven quiet herons leap', {
    site: 'kyc_desk',
    address: '192.0.2.1',
  });
  await expect(approveIt(wanted.approval_id, 'kai', 'reveal')).rejects.toThrow('for a day');
});

test('a reviewer approves a new one, who accepts no withdrawals as the second person for a day', async () => {
  const rita = { login: 'rita', roles: ['reviewer' as const] };
  for (const attempt of [
    () => operate(addOperator, rita, adam, platform()),
    () => operate(setRoles, { login: 'adam', roles: ['admin', 'reviewer'] }, adam, platform()),
    () => operate(linkOperator, { login: 'olga' }, adam, platform()),
  ])
    await expect(attempt()).rejects.toThrow(ApprovalError);
  const { approval_id } = await request('rita', { kind: 'reviewer', act: 'add', roles: rita.roles });
  await expect(
    operate(approve, { approval_id, kind: 'reviewer' }, officer('kim'), platform()),
  ).rejects.toThrow('takes the role reviewer');
  await operate(approve, { approval_id, kind: 'reviewer' }, operatorCaller('olga', 'reviewer'), platform());
  await operate(addOperator, { ...rita, approval_id }, adam, platform());
  const [row] =
    await database.sql`select counts_at > now() + interval '23 hours' as later from operators where login = 'rita'`;
  expect(row).toEqual({ later: true });
});

test.each(['added', 'given the role', 'opened by a link', 'enabled again'])(
  'an administrator who is %s requests nothing for a day: a reviewer who made that one would approve it',
  async (how) => {
    const { sql } = database;
    await operate(
      addOperator,
      { login: 'sock', roles: [how === 'given the role' ? 'viewer' : 'admin'] },
      adam,
      platform(),
    );
    if (how !== 'added') await sql`update operators set counts_at = now() where login = 'sock'`;
    if (how === 'given the role')
      await operate(setRoles, { login: 'sock', roles: ['admin'] }, adam, platform());
    if (how === 'opened by a link') await operate(linkOperator, { login: 'sock' }, adam, platform());
    if (how === 'enabled again')
      for (const act of [disableOperator, enableOperator])
        await operate(act, { login: 'sock' }, adam, platform());
    await openSessions(sql);
    const sock = operatorCaller('sock', 'admin');
    const asked = { kind: 'reviewer', act: 'add', roles: ['reviewer'] };
    await expect(request('rita', asked, sock)).rejects.toThrow('from the next day on');
    await sql`update operators set counts_at = counts_at - interval '1 day' where login = 'sock'`;
    expect(await request('rita', asked, sock)).toMatchObject({ requested_by: 'sock' });
  },
);

test('the first two officers of the command line count at once, the third from the next day on', async () => {
  const { sql } = database;
  await sql`truncate operators cascade`;
  for (const login of ['one', 'two', 'three'])
    await operate(addOperator, { login, roles: ['kyc_officer'] }, KIM, testPlatform(sql));
  expect(await sql`select login, counts_at <= now() as counts from operators order by created_at`).toEqual([
    { login: 'one', counts: true },
    { login: 'two', counts: true },
    { login: 'three', counts: false },
  ]);
  // A lost password of one of two: the command line opens the sign-in, and the two still count.
  await operate(linkOperator, { login: 'two' }, KIM, testPlatform(sql));
  expect(await sql`select from operators where counts_at <= now()`).toHaveLength(2);
});

test('neither site makes an officer count, or approve an officer, alone', async () => {
  const console = database.as('console');
  await console`update operators set counts_at = now() - interval '1 hour', roles = '{admin,reviewer}' where login = 'adam'`;
  await console`insert into operators (login, name, roles) values ('puppet', 'P', '{reviewer}')`;
  const late =
    await database.sql`select login from operators where counts_at > now() + interval '23 hours' order by 1`;
  expect(late.map(({ login }) => login)).toEqual(['adam', 'puppet']);
  await database.sql`update operators set counts_at = now() where login = 'adam'`;
  const { approval_id } = await request('eve', { act: 'add', roles: ['kyc_officer'] });
  await expect(
    console`update approvals set approved_by = 'kim', approved_at = now() where approval_id = ${approval_id}`,
  ).rejects.toThrow('may not write requests of the kind officer');
  const desk = database.as('kyc_desk');
  await expect(
    desk`insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
         values (gen_random_uuid(), 'officer', 'operator:eve', 'new', 'x', 'adam', now() + interval '1 hour')`,
  ).rejects.toThrow('may not write requests of the kind officer');
});

test('who takes the role away from all others is not alone afterwards', async () => {
  const { sql } = database;
  const both = operatorCaller('kim', 'admin', 'kyc_officer');
  await sql`update operators set roles = '{admin,kyc_officer}', counts_at = now() where login = 'kim'`;
  await operate(setRoles, { login: 'olga', roles: ['viewer'] }, both, platform());
  // By any writer to the table.
  await database.as('console')`update operators set roles = '{}' where login = 'kai'`;
  const reveal = { application_id: 'acme', reason: 'ticket' };
  const keys = async () => testKeys;
  await expect(operate(revealKycRecord, reveal, both, testPlatform(sql, { keys }))).rejects.toThrow(
    ApprovalError,
  );
  const puppet = operate(addOperator, { login: 'puppet', roles: ['reviewer'] }, both, platform());
  await expect(puppet).rejects.toThrow(ApprovalError);
});

test('where FOUR_EYES names no withdrawals, one administrator makes reviewers, and still no officer', async () => {
  const fourEyes: FourEyes = { kinds: KYC_APPROVAL_KINDS, onceTwo: false };
  const alone = testPlatform(database.sql, { fourEyes });
  await operate(addOperator, { login: 'rita', roles: ['reviewer'] }, adam, alone);
  const [entry] = await listAudit(database.sql, { action: 'operator.add', limit: 1 });
  expect(entry?.details).toMatchObject({ second_person: 'none: FOUR_EYES' });
  await expect(operate(addOperator, PUPPET, adam, alone)).rejects.toThrow('added on the command line');
});
