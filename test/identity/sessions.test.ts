import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { addTestOperator, PASSWORD, signIn, TESTS, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { linkOperator, signOutOperator, switchOperator } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** The password that kim sets. */
const KIM = 'seven quiet herons leap';

const database = useTestDatabase();
const logged: string[] = [];
const logger = pino({ level: 'info' }, { write: (line) => void logged.push(line) });
const served = useTestConsole(database, { logger });

beforeAll(async () => {
  for (const login of ['olga', 'idle', 'kim', 'vera']) await addTestOperator(database.sql, login, 'viewer');
});

const open = (cookie: string, path = '/', headers: Record<string, string> = {}) =>
  fetch(`${served.url}${path}`, { headers: { cookie, ...headers }, redirect: 'manual' });
const isSignedIn = async (cookie: string): Promise<boolean> => (await open(cookie)).status === 200;
const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${served.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
    redirect: 'manual',
  });

test('a session ends after 30 minutes without a request and after 12 hours, though it is used', async () => {
  const { sql } = database;
  const cookie = await signIn(served.url, 'idle');
  await sql`update operator_sessions set seen_at = now() - interval '29 minutes' where login = 'idle'`;
  expect(await isSignedIn(cookie)).toBe(true);
  await sql`update operator_sessions set seen_at = now() - interval '31 minutes' where login = 'idle'`;
  expect(await isSignedIn(cookie)).toBe(false);

  const old = await signIn(served.url, 'idle');
  await sql`update operator_sessions set started_at = now() - interval '11 hours 59 minutes' where login = 'idle'`;
  expect(await isSignedIn(old)).toBe(true);
  await sql`update operator_sessions set started_at = now() - interval '12 hours 1 minute' where login = 'idle'`;
  expect(await isSignedIn(old)).toBe(false);
});

test('what a page requests by itself does not keep its session open', async () => {
  const { sql } = database;
  const cookie = await signIn(served.url, 'idle');
  await sql`update operator_sessions set seen_at = now() - interval '20 minutes' where login = 'idle'`;
  const seen = () => sql<{ seen_at: Date }[]>`select seen_at from operator_sessions where login = 'idle'`;
  const before = await seen();
  await open(cookie, '/', { 'hx-request': 'true' });
  await open(cookie, '/queues/api/queues');
  expect(await seen()).toEqual(before);
  await open(cookie);
  expect(await seen()).not.toEqual(before);
});

test('a page that is replaced in place keeps the session open, as any page does', async () => {
  const { sql } = database;
  const cookie = await signIn(served.url, 'idle');
  await sql`update operator_sessions set seen_at = now() - interval '20 minutes' where login = 'idle'`;
  await open(cookie, '/', { 'hx-request': 'true', 'hx-boosted': 'true' });
  const [latest] = await sql<{ seen_at: Date }[]>`
    select max(seen_at) as seen_at from operator_sessions where login = 'idle'`;
  expect(Date.now() - (latest?.seen_at.getTime() ?? 0)).toBeLessThan(10 * 60_000);
});

test('every sign-in makes a new session of 256 random bits and ends the one of the same browser', async () => {
  const first = await signIn(served.url, 'olga');
  const again = await post('/sign-in', { login: 'olga', password: PASSWORD }, { cookie: first });
  const second = again.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(second.split('=')[1]).toMatch(/^[\w-]{43}$/);
  expect(second).not.toBe(first);
  expect(await isSignedIn(second)).toBe(true);
  expect(await isSignedIn(first)).toBe(false);
});

test('a sign-in at the portal ends the portal session of the same browser', async () => {
  await addApplication(database.sql, 'acme');
  const { token } = await addToken(database.sql, 'acme');
  const enter = async (cookie: string) =>
    (await post('/portal/sign-in', { token }, { cookie })).headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const first = await enter('');
  expect((await open(first, '/portal')).status).toBe(200);
  const second = await enter(first);
  expect((await open(second, '/portal')).status).toBe(200);
  expect((await open(first, '/portal')).status).toBe(303);
});

test('a cookie that was made up opens nothing, and a session that a browser brings along is not adopted', async () => {
  const planted = `catalogue_session=${randomBytes(32).toString('base64url')}`;
  expect(await isSignedIn(planted)).toBe(false);
  const answer = await post('/sign-in', { login: 'olga', password: PASSWORD }, { cookie: planted });
  expect(answer.headers.getSetCookie()[0]?.split(';')[0]).not.toBe(planted);
  expect(await isSignedIn(planted)).toBe(false);
  const [{ hash } = { hash: Buffer.alloc(0) }] = await database.sql<{ hash: Buffer }[]>`
    select session_hash as hash from operator_sessions where login = 'olga' limit 1`;
  expect(hash).toHaveLength(32);
});

test('a link works once, and the password that it sets ends every other session', async () => {
  const before = await signIn(served.url, 'kim');
  const link = await linkOperator(database.sql, TESTS, 'kim');
  const weak = await post('/sign-in', { link, login: 'kim', password: 'kimkimkimkimkimkim' });
  expect(weak.status).toBe(422);
  const set = await post('/sign-in', { link, login: 'kim', password: KIM });
  expect(set.status).toBe(303);
  expect(await isSignedIn(before)).toBe(false);
  expect((await post('/sign-in', { link, login: 'kim', password: 'eight quiet herons leap' })).status).toBe(
    410,
  );
  expect((await post('/sign-in', { login: 'kim', password: PASSWORD })).status).toBe(401);
  await signIn(served.url, 'kim', KIM);

  const late = await linkOperator(database.sql, TESTS, 'kim');
  await database.sql`update sign_in_links set expires_at = now() - interval '1 second' where login = 'kim'`;
  expect(
    (await post('/sign-in', { link: late, login: 'kim', password: 'nine quiet herons leap' })).status,
  ).toBe(410);
  const actions = (await listAudit(database.sql, { limit: 100 }))
    .filter(({ subject }) => subject === 'operator:kim')
    .map(({ action }) => action);
  expect(actions).toContain('operator.password');
});

test('an administrator ends every session of an operator', async () => {
  const sessions = [await signIn(served.url, 'kim', KIM), await signIn(served.url, 'kim', KIM)];
  const others = await signIn(served.url, 'olga');
  expect(await signOutOperator(database.sql, TESTS, 'kim')).toBeGreaterThanOrEqual(2);
  for (const cookie of sessions) expect(await isSignedIn(cookie)).toBe(false);
  expect(await isSignedIn(others)).toBe(true);
});

test('an operator who is active already keeps sessions and link when a stale page enables the operator', async () => {
  const { sql } = database;
  const cookie = await signIn(served.url, 'olga');
  const link = await linkOperator(sql, TESTS, 'olga', false);
  const entries = () => listAudit(sql, { subject: 'operator:olga', limit: 100 });
  const before = await entries();
  expect(await switchOperator(sql, TESTS, 'olga', 'active')).toMatchObject({ status: 'active', sessions: 0 });
  expect(await isSignedIn(cookie)).toBe(true);
  expect(await entries()).toEqual(before);
  expect((await post('/sign-in', { link })).status).toBe(303);
});

test('a link for a disabled operator is refused with the command that lets the operator sign in again', async () => {
  const { sql } = database;
  await switchOperator(sql, TESTS, 'vera', 'disabled');
  await expect(linkOperator(sql, TESTS, 'vera')).rejects.toThrow('(operator disable vera --undo)');
  await switchOperator(sql, TESTS, 'vera', 'active');
});

test('refusals are logged: a page without the right, another origin, too many sign-ins; a flood is one line a second', async () => {
  const cookie = await signIn(served.url, 'vera');
  const lines = (message: string) =>
    logged.map((line) => JSON.parse(line)).filter(({ msg }: { msg: string }) => msg === message);
  expect((await open(cookie, '/audit')).status).toBe(403);
  expect(lines('access refused')[0]).toMatchObject({ login: 'vera', route: '/audit', address: '127.0.0.1' });
  const forged = await Promise.all(
    Array.from({ length: 20 }, () => post('/sign-out', {}, { cookie, origin: 'http://evil.example' })),
  );
  expect(forged.every(({ status }) => status === 403)).toBe(true);
  const refused = lines('request of another origin refused');
  expect(refused[0]).toMatchObject({ route: '/sign-out', address: '127.0.0.1' });
  expect(refused.length).toBeLessThan(20);
  for (let n = 0; n < 11; n += 1) await post('/sign-in', { login: 'vera', password: `wrong-${n}` });
  expect(lines('too many sign-ins')[0]).toMatchObject({ address: '127.0.0.1' });
  expect(logged.join('')).not.toMatch(/wrong-|catalogue_session/);
});

test('a link to which a page of another origin leads signs in by a button: it may be the link of somebody else', async () => {
  const link = await linkOperator(database.sql, TESTS, 'kim', false);
  const opened = await fetch(`${served.url}/sign-in?link=${link}&next=/review`, {
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'cross-site' },
  });
  expect([opened.status, opened.headers.getSetCookie()]).toEqual([200, []]);
  expect(await opened.text()).toMatch(/Sign in as .*kim.*<button/s);
  const forged = { origin: 'https://evil.example' };
  expect((await post('/sign-in', { link, next: '/review' }, forged)).status).toBe(403);
  const entered = await post('/sign-in', { link, next: '/review' });
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/review']);
  expect((await post('/sign-in', { link, next: '/review' })).status).toBe(410);
  const [entry] = await listAudit(database.sql, { limit: 1 });
  expect(entry).toMatchObject({ action: 'session.sign_in', details: { by: 'link', site: 'console' } });
});

test('a path that an address of the sign-in names twice counts as absent', async () => {
  const form = await (await fetch(`${served.url}/sign-in?next=/one&next=/two`)).text();
  expect(form).toMatch(/name="next" value="\/"/);
});
