import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { takeAttempt } from '#db/queries/sign-in.ts';
import { createLink } from '#src/identity/links.ts';
import { ADDRESS_DELAYS } from '#src/identity/sign-in.ts';
import { addTestOperator, PASSWORD, startTestConsole, type TestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let console: TestConsole;
let withOidc: TestConsole;
const oidc = {
  issuer: 'http://127.0.0.1:9',
  clientId: 'catalogue',
  clientSecret: 'a secret',
  rolesClaim: 'groups',
  roles: new Map(),
};
beforeAll(async () => {
  withOidc = await startTestConsole(database, { trustedProxies: ['127.0.0.1'], oidc });
  console = await startTestConsole(database, { trustedProxies: ['127.0.0.1'] });
  await addTestOperator(database.sql, 'kai', 'reviewer');
});
afterAll(() => Promise.all([console.stop(), withOidc.stop()]));
beforeEach(() => database.sql`delete from sign_in_attempts`);

const post = (path: string, form: Record<string, string>, address: string, cookie = '') =>
  fetch(new URL(path, console.url), {
    method: 'POST',
    headers: { cookie, 'x-forwarded-for': address },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
const signIn = (password: string, address: string, cookie = '') =>
  post('/sign-in', { login: 'kai', password }, address, cookie);
const cookiesOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');

test('somebody at one address locks nobody out elsewhere, however often they try', async () => {
  const statuses: number[] = [];
  for (let tries = 0; tries < 130; tries += 1) statuses.push((await signIn('wrong', '192.0.2.1')).status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect((await signIn(PASSWORD, '192.0.2.2')).status).toBe(303);
});

test('many addresses lock out unknown browsers only: not a known one, and not the confirmations of who is signed in', async () => {
  const entered = await signIn(PASSWORD, '192.0.2.9');
  const cookies = cookiesOf(entered);
  const session = cookies.split('; ').find((cookie) => cookie.startsWith('catalogue_session=')) ?? '';
  const known = cookies.split('; ').find((cookie) => cookie.startsWith('catalogue_browser=')) ?? '';
  await database.sql`
    insert into sign_in_attempts (attempt_key, attempts, window_ends_at)
    values ('login:kai', 107, now() + interval '1 hour')`;
  const stranger = await signIn(PASSWORD, '192.0.2.3');
  expect([stranger.status, Number(stranger.headers.get('retry-after'))]).toEqual([429, 60]);
  expect((await signIn(PASSWORD, '192.0.2.3', 'catalogue_browser=forged')).status).toBe(429);
  expect((await signIn(PASSWORD, '192.0.2.3', known)).status).toBe(303);
  const changed = await post(
    '/account/password',
    { current: 'wrong', password: 'seven quiet herons leap' },
    '192.0.2.9',
    session,
  );
  expect(changed.status).toBe(422);
});

test('a known browser has ten attempts too', async () => {
  const known = cookiesOf(await signIn(PASSWORD, '192.0.2.9'));
  const statuses: number[] = [];
  for (let tries = 0; tries < 12; tries += 1)
    statuses.push((await signIn('wrong', `192.0.2.${tries}`, known)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
});

test('attempts at once, up to ten at an address, wait for none', async () => {
  const take = (sql: Queryable) => takeAttempt(sql, 'address:192.0.2.7', ADDRESS_DELAYS);
  await database.sql.begin(async (earlier) => {
    await earlier`select now()`;
    expect(await take(database.sql)).toBe(0);
    // By the clock of its transaction, it comes before the attempt that is already counted.
    expect(await take(earlier)).toBe(0);
  });
  for (let taken = 2; taken < 10; taken += 1) expect(await take(database.sql)).toBe(0);
  expect(await take(database.sql)).toBe(ADDRESS_DELAYS.firstS);
});

/** Lets seconds pass for all counts. */
const pass = (seconds: number) =>
  database.sql`update sign_in_attempts set window_ends_at = window_ends_at - ${seconds} * interval '1 second'`;

test('an address that goes on guessing waits longer each time, and begins anew an hour later', async () => {
  const waits: number[] = [];
  for (let tries = 0; tries < 10; tries += 1) await signIn('wrong', '192.0.2.1');
  for (let tries = 0; tries < 7; tries += 1) {
    const wait = Number((await signIn('wrong', '192.0.2.1')).headers.get('retry-after'));
    waits.push(wait);
    await pass(wait);
    expect((await signIn('wrong', '192.0.2.1')).status).toBe(401);
  }
  expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900]);
  expect((await signIn(PASSWORD, '192.0.2.1')).status).toBe(429);
  await pass(3_600);
  expect((await signIn(PASSWORD, '192.0.2.1')).status).toBe(303);
});

test('a proxy that appends the port of its client too counts the client, and not each connection', async () => {
  for (const address of ['192.0.2.8', '[2001:db8::8]']) {
    for (let port = 1_024; port < 1_034; port += 1)
      expect((await signIn('wrong', `${address}:${port}`)).status).toBe(401);
    expect((await signIn('wrong', `${address}:2000`)).status).toBe(429);
  }
});

test('a page of another site begins no sign-ins at the provider, which would use up those of the address', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.7', 'sec-fetch-site': 'cross-site' };
  const begin = (dest: string) =>
    fetch(new URL('/sign-in/oidc', withOidc.url), {
      headers: { ...headers, 'sec-fetch-dest': dest },
      redirect: 'manual',
    });
  for (const dest of ['image', 'iframe', 'empty']) expect((await begin(dest)).status).toBe(403);
  expect(await database.sql`select from sign_in_attempts`).toEqual([]);
  // A link leads there too. The provider does not answer.
  expect((await begin('document')).status).toBe(503);
});

test('with a link, ten passwords are judged, which takes time, and no more', async () => {
  const secret = await createLink(database.sql, 'kai', true);
  const weak = () =>
    post('/sign-in', { login: 'kai', link: secret, password: 'a'.repeat(20) }, '192.0.2.1').then((answer) =>
      answer.text(),
    );
  for (let n = 0; n < 10; n += 1) expect(await weak()).toContain('easy to guess');
  expect(await weak()).toContain('Too many sign-ins');
});
