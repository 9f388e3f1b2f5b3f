import { afterAll, beforeAll, expect, test } from 'vitest';
import { noticeOf } from '#test/support/accounts.ts';
import {
  addTestOperator,
  PASSWORD,
  signIn,
  startTestConsole,
  type TestConsole,
} from '#test/support/console.ts';
import { startTestDesk, type TestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let console: TestConsole;
let desk: TestDesk;
beforeAll(async () => {
  await addTestOperator(database.sql, 'adam', 'admin', 'kyc_officer');
  await addTestOperator(database.sql, 'kim', 'kyc_officer');
  [console, desk] = await Promise.all([startTestConsole(database), startTestDesk(database)]);
});
afterAll(() => Promise.all([console.stop(), desk.stop()]));

const post = (url: string, path: string, form: Record<string, string>, cookie: string) =>
  fetch(new URL(path, url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
const read = async (url: string, path: string, cookie: string) =>
  (await fetch(new URL(path, url), { headers: { cookie } })).text();
const add = { act: 'add', login: 'puppet', role: 'kyc_officer', reason: 'joins the team' };

test('a stolen session of an administrator changes no operator: each change takes the password', async () => {
  const adam = await signIn(console.url, 'adam');
  for (const form of [
    add,
    { act: 'add', login: 'vera', role: 'viewer' },
    { act: 'roles', login: 'kim', role: 'admin' },
    { act: 'link', login: 'kim' },
    { act: 'sign_out', login: 'kim' },
    { act: 'disable', login: 'kim' },
  ])
    for (const password of ['', 'wrong one']) {
      await database.sql`truncate sign_in_attempts`;
      const answer = await post(console.url, '/operators', { ...form, password } as never, adam);
      expect(noticeOf(answer)).toContain('Not changed');
    }
  const rows = await database.sql`select login, roles, status from operators order by login`;
  expect(rows).toEqual([
    { login: 'adam', roles: ['admin', 'kyc_officer'], status: 'active' },
    { login: 'kim', roles: ['kyc_officer'], status: 'active' },
  ]);
});

test('an administrator requests an officer at the console, an officer approves it at the desk', async () => {
  const adam = await signIn(console.url, 'adam');
  const adamAtDesk = await signIn(desk.url, 'adam');
  const kim = await signIn(desk.url, 'kim');
  const password = PASSWORD;
  expect(noticeOf(await post(console.url, '/operators', { ...add, password }, adam))).toContain('Requested.');
  const [row] = await database.sql<{ approval_id: string }[]>`select approval_id from approvals`;
  const id = row?.approval_id ?? '';
  expect(await read(console.url, '/operators', adam)).toContain(`/requests/officer/${id}/cancel`);
  expect(await read(desk.url, '/requests', kim)).toContain('Add the operator puppet as kyc officer');

  // The console approves nothing, and nobody the own request.
  expect(
    (await post(console.url, `/requests/officer/${id}/approve`, {}, adam)).status,
  ).toBeGreaterThanOrEqual(400);
  await post(desk.url, `/requests/officer/${id}/approve`, {}, adamAtDesk);
  expect(await database.sql`select from approvals where approved_by is not null`).toHaveLength(0);
  expect(noticeOf(await post(desk.url, `/requests/officer/${id}/approve`, {}, kim))).toContain('Approved.');

  expect(await read(console.url, '/operators', adam)).toContain('Do it now');
  const done = await post(console.url, '/operators', { ...add, password, approval: id }, adam);
  expect(await done.text()).toContain('/sign-in?link=');
  expect(await database.sql`select roles from operators where login = 'puppet'`).toEqual([
    { roles: ['kyc_officer'] },
  ]);
});

test('a request for an officer is cancelled at the console', async () => {
  const adam = await signIn(console.url, 'adam');
  await post(
    console.url,
    '/operators',
    { act: 'link', login: 'kim', reason: 'lost it', password: PASSWORD },
    adam,
  );
  const [row] = await database.sql<
    { approval_id: string }[]
  >`select approval_id from approvals where closed_at is null and used_at is null`;
  const answer = await post(console.url, `/requests/officer/${row?.approval_id}/cancel`, {}, adam);
  expect(noticeOf(answer)).toContain('The request has ended.');
});

test('a former officer is enabled as a new one is made: another officer approves it', async () => {
  const adam = await signIn(console.url, 'adam');
  const kim = await signIn(desk.url, 'kim');
  await addTestOperator(database.sql, 'gone', 'kyc_officer');
  await database.sql`update operators set status = 'disabled' where login = 'gone'`;
  const enable = { act: 'enable', login: 'gone', reason: 'is back', password: PASSWORD };
  const statusOf = () => database.sql`select status from operators where login = 'gone'`;
  expect(noticeOf(await post(console.url, '/operators', enable, adam))).toContain('Requested.');
  expect(await statusOf()).toEqual([{ status: 'disabled' }]);
  const [row] = await database.sql<{ approval_id: string }[]>`
    select approval_id from approvals where subject = 'operator:gone'`;
  const approval = row?.approval_id ?? '';
  expect(await read(desk.url, '/requests', kim)).toContain('Enable gone');
  expect(noticeOf(await post(desk.url, `/requests/officer/${approval}/approve`, {}, kim))).toContain(
    'Approved.',
  );
  await post(console.url, '/operators', { ...enable, approval }, adam);
  expect(await statusOf()).toEqual([{ status: 'active' }]);
});
