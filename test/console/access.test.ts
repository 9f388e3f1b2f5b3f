import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';
import {
  addTestOperator,
  PASSWORD,
  signIn,
  startTestConsole,
  TESTS,
  type TestConsole,
} from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { setRoles, switchOperator } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let first: TestConsole;
let second: TestConsole;

const ID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';

/** Every route with the roles that may call it. A body is refused by its form, after the right was checked. */
const ANY_ROLE = ROLES;
const ROUTES: [method: string, path: string, allowed: readonly Role[]][] = [
  ['GET', '/', ANY_ROLE],
  ['GET', '/review', ANY_ROLE],
  ['GET', '/games', ANY_ROLE],
  ['GET', `/games/${ID}`, ANY_ROLE],
  ['GET', `/batches/${ID}`, ANY_ROLE],
  ['GET', '/applications', ANY_ROLE],
  ['GET', '/applications/acme', ANY_ROLE],
  ['GET', '/application-names', ANY_ROLE],
  ['GET', '/runs', ANY_ROLE],
  ['GET', `/runs/${ID}`, ANY_ROLE],
  ['GET', '/figures', ANY_ROLE],
  ['GET', '/figures/rejections', ANY_ROLE],
  ['GET', '/failures', ANY_ROLE],
  ['GET', '/reasons', ANY_ROLE],
  ['GET', '/queues', ANY_ROLE],
  ['GET', '/queues/api/queues', ANY_ROLE],
  ['GET', '/account', ANY_ROLE],
  ['POST', '/account/password', ANY_ROLE],
  ['POST', '/account/sessions', ANY_ROLE],
  ['GET', `/games/${ID}/viewers`, ['reviewer']],
  ['POST', '/review', ['reviewer']],
  ['POST', `/games/${ID}`, ['reviewer']],
  ['POST', `/games/${ID}/package`, ['reviewer']],
  ['POST', '/undo', ['reviewer']],
  ['POST', `/runs/${ID}/withdrawals`, ['reviewer', 'admin']],
  ['POST', '/requests', ['reviewer', 'admin']],
  ['POST', `/requests/withdrawals/${ID}/approve`, ['reviewer']],
  ['POST', `/requests/withdrawals/${ID}/cancel`, ['reviewer', 'admin']],
  ['POST', `/requests/withdrawals/${ID}/decline`, ['reviewer']],
  ['POST', '/applications/acme', ['admin']],
  ['POST', '/applications/acme/settings', ['admin']],
  ['POST', '/applications/acme/events', ['admin']],
  ['POST', '/queues', ['admin']],
  ['GET', '/queues/', ANY_ROLE],
  ['GET', '/tokens', ['admin']],
  ['POST', '/tokens', ['admin']],
  ['POST', '/failures', ['admin']],
  ['GET', '/audit', ['admin']],
  ['GET', '/operators', ['admin']],
  ['POST', '/operators', ['admin']],
  ['POST', '/reasons', ['admin']],
  ['PUT', '/queues/api/queues/tick/pause', ['admin']],
];

beforeAll(async () => {
  await addApplication(database.sql, 'acme');
  for (const role of ROLES) await addTestOperator(database.sql, role, role);
  await addTestOperator(database.sql, 'olga', 'viewer');
  [first, second] = await Promise.all([startTestConsole(database), startTestConsole(database)]);
});
afterAll(async () => {
  await first?.stop();
  await second?.stop();
});

const call = (
  method: string,
  path: string,
  cookie: string,
  headers: Record<string, string> = {},
  url = first.url,
) => fetch(new URL(path, url), { method, redirect: 'manual', headers: { cookie, ...headers } });

test.each(ROLES)(
  'the role %s may do what the table says, and gets 403 with the role that it takes elsewhere',
  async (role) => {
    const cookie = await signIn(first.url, role);
    const refused: string[] = [];
    const expected: string[] = [];
    for (const [method, path, allowed] of ROUTES) {
      const answer = await call(method, path, cookie);
      const text = await answer.text();
      expect(answer.status, `${method} ${path}: ${text.slice(0, 300)}`).toBeLessThan(500);
      if (answer.status === 403) {
        refused.push(`${method} ${path}`);
        expect(text).toContain(`role ${allowed[0]?.replace('_', ' ')}`);
      }
      if (!allowed.includes(role)) expected.push(`${method} ${path}`);
    }
    expect(refused).toEqual(expected);
  },
);

test('every answer has the strict policy, Bull Board what it needs beyond it, and no page has inline script or style', async () => {
  const cookie = await signIn(first.url, 'admin');
  for (const [method, path] of [...ROUTES, ['GET', '/sign-in'] as const, ['GET', '/nowhere'] as const]) {
    const answer = await call(method, path, path === '/sign-in' ? '' : cookie);
    const policy = answer.headers.get('content-security-policy');
    if (path.startsWith('/queues')) {
      expect(policy).toContain("script-src 'self';");
      continue;
    }
    expect(policy, path).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(await answer.text(), path).not.toMatch(
      /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i,
    );
  }
});

test('without a session a page leads to the sign-in, and nothing else answers', async () => {
  for (const [method, path] of ROUTES) {
    const { status, headers } = await call(method, path, '');
    const isPage = method === 'GET' && !path.startsWith('/queues/api');
    expect([method, path, status]).toEqual([method, path, isPage ? 303 : 401]);
    if (isPage) expect(headers.get('location')).toContain('/sign-in?next=');
  }
});

test('a changed role and a disabled operator count at the next click, in every process', async () => {
  const { sql } = database;
  const cookie = await signIn(first.url, 'olga');
  expect((await call('GET', '/audit', cookie, {}, second.url)).status).toBe(403);
  await setRoles(sql, TESTS, 'olga', ['admin']);
  expect((await call('GET', '/audit', cookie, {}, second.url)).status).toBe(200);
  await switchOperator(sql, TESTS, 'olga', 'disabled');
  expect((await call('GET', '/', cookie)).status).toBe(303);
  await expect(signIn(first.url, 'olga')).rejects.toThrow('401');
  await switchOperator(sql, TESTS, 'olga', 'active');
  expect((await call('GET', '/', cookie)).status).toBe(303);
  expect(await signIn(second.url, 'olga')).not.toBe('');
});

test('a request of another origin changes nothing, and sign-out ends copies of the cookie', async () => {
  const cookie = await signIn(first.url, 'admin');
  const forged: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
  ];
  for (const headers of forged) {
    expect((await call('POST', '/sign-out', cookie, headers)).status).toBe(403);
  }
  expect((await call('GET', '/', cookie)).status).toBe(200);
  expect((await call('POST', '/sign-out', cookie, { 'sec-fetch-site': 'same-origin' })).status).toBe(303);
  expect((await call('GET', '/', cookie)).status).toBe(303);
});

test('a sign-in leads only to this console, and an unknown login answers as a wrong password does', async () => {
  const post = (form: Record<string, string>) =>
    fetch(new URL('/sign-in', first.url), {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
  const elsewhere = ['https://evil.example/', '//evil.example', '/.//evil.example', 'javascript:alert(1)'];
  // A blob's origin is that of the address in it, and a sign-in link would sign in as somebody else.
  for (const next of [...elsewhere, 'blob:http://console.invalid/x', '/sign%2Din?%6Cink=secret']) {
    const { headers } = await post({ login: 'admin', password: PASSWORD, next });
    expect(headers.get('location')).toBe('/');
  }
  const [wrong, unknown] = await Promise.all([
    post({ login: 'viewer', password: 'wrong' }),
    post({ login: 'nobody', password: 'wrong' }),
  ]);
  expect([wrong.status, unknown.status]).toEqual([401, 401]);
  // Each keeps the login that was typed.
  expect((await wrong.text()).replace('"viewer"', '"nobody"')).toBe(await unknown.text());
});

test('parallel wrong passwords over two processes end in 429 with Retry-After; the right one is refused too; the log names no password', async () => {
  const attempt = (url: string, password: string) =>
    fetch(new URL('/sign-in', url), {
      method: 'POST',
      body: new URLSearchParams({ login: 'reviewer', password }),
      redirect: 'manual',
    });
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => attempt(n % 2 === 0 ? first.url : second.url, `guess-${n}`)),
  );
  expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThanOrEqual(14);
  expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await attempt(second.url, PASSWORD)).status).toBe(429);
  const rows = await listAudit(database.sql, { limit: 500 });
  expect(rows.some(({ action, actor }) => action === 'session.refuse' && actor === 'reviewer')).toBe(true);
  expect(JSON.stringify(rows)).not.toContain('guess-');
});
