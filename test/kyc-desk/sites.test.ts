import { afterAll, beforeAll, expect, test } from 'vitest';
import { noticeOf } from '#test/support/accounts.ts';
import {
  addTestOperator,
  PASSWORD,
  signIn,
  startTestConsole,
  TESTS,
  type TestConsole,
} from '#test/support/console.ts';
import { startTestDesk, type TestDesk } from '#test/support/kyc-desk.ts';
import { linkOperator } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NEW = 'seven quiet herons leap';
const database = useTestDatabase();
let console: TestConsole;
let desk: TestDesk;
beforeAll(async () => {
  await addTestOperator(database.sql, 'kim', 'kyc_officer');
  await addTestOperator(database.sql, 'olga', 'reviewer');
  [console, desk] = await Promise.all([startTestConsole(database), startTestDesk(database)]);
});
afterAll(() => Promise.all([console.stop(), desk.stop()]));

const open = (url: string, path: string, cookie: string) =>
  fetch(new URL(path, url), { headers: { cookie }, redirect: 'manual' });
const post = (url: string, path: string, form: Record<string, string>, cookie = '') =>
  fetch(new URL(path, url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });

test('a session of one site opens no page of the other, and both stay open in one browser', async () => {
  const [atConsole, atDesk] = [await signIn(console.url, 'kim'), await signIn(desk.url, 'kim')];
  expect((await open(desk.url, '/', atConsole)).status).toBe(303);
  expect((await open(console.url, '/', atDesk)).status).toBe(303);
  // A browser sends the cookies of both, because it does not tell ports of a host apart.
  const both = `${atConsole}; ${atDesk}`;
  await post(desk.url, '/sign-in', { login: 'kim', password: PASSWORD }, both);
  expect((await open(console.url, '/', both)).status).toBe(200);
});

test('the desk sets the password of officers alone, by a link or by its page', async () => {
  const link = await linkOperator(database.sql, TESTS, 'olga');
  const refused = await post(desk.url, '/sign-in', { link, password: NEW, login: 'olga' });
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining('Open this link at the console'),
  ]);
  expect((await post(console.url, '/sign-in', { link, password: NEW, login: 'olga' })).status).toBe(303);

  const olga = await signIn(desk.url, 'olga', NEW);
  const change = await post(desk.url, '/account/password', { current: NEW, password: PASSWORD }, olga);
  expect([change.status, await change.text()]).toEqual([409, expect.stringContaining('at the console')]);

  const own = await linkOperator(database.sql, TESTS, 'kim');
  expect((await post(desk.url, '/sign-in', { link: own, password: NEW, login: 'kim' })).status).toBe(303);
  const kim = await signIn(desk.url, 'kim', NEW);
  const changed = await post(desk.url, '/account/password', { current: NEW, password: PASSWORD }, kim);
  expect(noticeOf(changed)).toContain('Your password is changed.');
});
