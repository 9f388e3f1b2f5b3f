import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { findOperator, insertOperator } from '#db/queries/operators.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { openSession, readLink } from '#src/identity/sign-in.ts';
import { cookieOf, noticeOf, sessionIds } from '#test/support/accounts.ts';
import {
  addTestOperator,
  PASSWORD,
  signIn,
  startTestConsole,
  TESTS,
  type TestConsole,
} from '#test/support/console.ts';
import { linkOperator } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NEW = 'seven quiet herons leap';
const OTHER = 'eight loud ravens sleep';

const database = useTestDatabase();
const logged: string[] = [];
let served: TestConsole;
let number = 0;
/** An operator of each test. */
let login: string;

beforeAll(async () => {
  const logger = pino({ level: 'debug' }, { write: (line) => void logged.push(line) });
  served = await startTestConsole(database, { logger });
  await addTestOperator(database.sql, 'vera', 'viewer');
});
afterAll(() => served?.stop());
beforeEach(async () => {
  number += 1;
  login = `olga-${number}`;
  await addTestOperator(database.sql, login, 'viewer');
  await database.sql`delete from sign_in_attempts`;
});

const open = (cookie: string, path = '/account') =>
  fetch(`${served.url}${path}`, { headers: { cookie }, redirect: 'manual' });
const isSignedIn = async (cookie: string): Promise<boolean> => (await open(cookie, '/')).status === 200;
const post = (cookie: string, path: string, form: Record<string, string>, headers = {}) =>
  fetch(`${served.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { cookie, ...headers },
    redirect: 'manual',
  });
const change = (cookie: string, form: Record<string, string>, headers = {}) =>
  post(cookie, '/account/password', form, headers);
const end = (cookie: string, session: string, headers = {}) =>
  post(cookie, '/account/sessions', { session }, headers);
const signsInWith = async (password: string): Promise<boolean> =>
  signIn(served.url, login, password).then(
    () => true,
    () => false,
  );
const audited = (action: string) => listAudit(database.sql, { actor: login, action, limit: 50 });

test('a change gives this browser a new session, ends all others and every copy of the former cookie, and is in the audit log', async () => {
  const elsewhere = await signIn(served.url, login);
  const mine = await signIn(served.url, login);
  const link = await linkOperator(database.sql, TESTS, login);
  const answer = await change(mine, { current: PASSWORD, password: NEW });
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/account');
  const next = cookieOf(answer);
  expect(next).toMatch(/^catalogue_session=[\w-]{43}$/);
  expect(answer.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax$/);
  expect(noticeOf(answer)).toContain('Your password is changed. Other sessions that ended: 1.');
  expect(await Promise.all([elsewhere, mine, next].map(isSignedIn))).toEqual([false, false, true]);
  expect([await signsInWith(PASSWORD), await signsInWith(NEW)]).toEqual([false, true]);
  expect(await readLink(database.sql, link)).toBeUndefined();
  const [entry, ...more] = await audited('operator.password');
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ subject: `operator:${login}`, actor_kind: 'operator' });
  expect(entry?.details).toEqual({ sessions: 1, address: '127.0.0.1' });
});

test('a stolen session changes nothing without the current password; guesses are counted', async () => {
  const stolen = await signIn(served.url, login);
  expect((await change(stolen, { password: NEW })).status).toBe(400);
  for (const current of ['', OTHER, PASSWORD.toUpperCase()]) {
    const refused = await change(stolen, { current, password: NEW });
    expect(refused.status).toBe(422);
    const text = await refused.text();
    expect(text).toContain('The current password is wrong.');
    expect(text.match(/<input[^>]*aria-invalid/g), 'the field that is wrong, alone').toHaveLength(1);
    expect(text).toMatch(/<input[^>]*name="current"[^>]*aria-invalid/);
    expect(refused.headers.getSetCookie()).toEqual([]);
  }
  const guesses = await Promise.all(
    Array.from({ length: 14 }, (_, n) => change(stolen, { current: `guess-${n}`, password: NEW })),
  );
  expect(guesses.filter(({ status }) => status === 422).length).toBeLessThanOrEqual(7);
  const limited = await change(stolen, { current: PASSWORD, password: NEW });
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  const warned = logged
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'too many wrong passwords');
  expect(warned[0]).toMatchObject({ login, address: '127.0.0.1' });
  const keys = await database.sql<{ attempt_key: string }[]>`
    select attempt_key from sign_in_attempts where attempts > 10 order by 1`;
  expect(keys.map(({ attempt_key }) => attempt_key)).toEqual([`confirm:${login}`]);
  expect(await audited('operator.password')).toEqual([]);
  expect((await audited('session.refuse'))[0]?.reason).toBe('wrong current password for a new one');
  await database.sql`delete from sign_in_attempts`;
  expect(await signsInWith(PASSWORD)).toBe(true);
});

test('a new password follows the rules of the first one, and is another than the current one', async () => {
  const cookie = await signIn(served.url, login);
  for (const [password, problem] of [
    ['too short', 'at least 15 characters'],
    ['passwordpassword', 'easy to guess'],
    [`${login}${login}${login}`, 'easy to guess'],
    ['x1 '.repeat(86), 'at most 256 characters'],
    [PASSWORD, 'must differ from the current one'],
  ] as const) {
    const answer = await change(cookie, { current: PASSWORD, password });
    expect(answer.status, password).toBe(422);
    const text = await answer.text();
    expect(text).toContain(problem);
    expect(text).not.toContain(password);
  }
  expect(await isSignedIn(cookie)).toBe(true);
  expect(await signsInWith(PASSWORD)).toBe(true);
});

test.each([['of two sessions'], ['of one session']])(
  'of two changes at once %s one succeeds, and one session remains',
  async (which) => {
    const first = await signIn(served.url, login);
    const second = which === 'of one session' ? first : await signIn(served.url, login);
    const answers = await Promise.all([
      change(first, { current: PASSWORD, password: NEW }),
      change(second, { current: PASSWORD, password: OTHER }),
    ]);
    const won = answers.findIndex(({ status }) => status === 303);
    const lost = answers[1 - won];
    expect([401, 409, 422]).toContain(lost?.status);
    expect(lost?.headers.getSetCookie()).toEqual([]);
    expect(await Promise.all([first, second].map(isSignedIn))).toEqual([false, false]);
    expect(await isSignedIn(cookieOf(answers[won]))).toBe(true);
    expect(await database.sql`select from operator_sessions where login = ${login}`).toHaveLength(1);
    expect(await audited('operator.password')).toHaveLength(1);
    expect([await signsInWith(NEW), await signsInWith(OTHER)]).toEqual([won === 0, won === 1]);
  },
);

test('the page shows the own sessions, which one this is, and neither a token nor a hash', async () => {
  const cookies = [await signIn(served.url, login), await signIn(served.url, login)];
  const [mine = ''] = cookies;
  await signIn(served.url, 'vera');
  const text = await (await open(mine)).text();
  expect(text).toContain(`${login} of the tests`);
  expect(text).toContain('An administrator sets them');
  expect(text.match(/This session/g)).toHaveLength(1);
  expect(sessionIds(text)).toHaveLength(1);
  const stored = await database.sql<{ hash: Buffer }[]>`select session_hash as hash from operator_sessions`;
  expect(stored.length).toBeGreaterThanOrEqual(3);
  const secrets = [
    ...cookies.map((cookie) => cookie.split('=')[1] ?? ''),
    ...stored.flatMap(({ hash }) => [
      hash.toString('hex'),
      hash.toString('base64'),
      hash.toString('base64url'),
    ]),
  ];
  for (const secret of secrets) expect(text).not.toContain(secret);
});

test('an operator ends one session, or all others; this one stays', async () => {
  const [one, two, three, mine] = [
    await signIn(served.url, login),
    await signIn(served.url, login),
    await signIn(served.url, login),
    await signIn(served.url, login),
  ];
  const [id = ''] = sessionIds(await (await open(mine)).text());
  const ended = await end(mine, id);
  expect(noticeOf(ended)).toContain('The session has ended.');
  const left = await Promise.all([one, two, three].map(isSignedIn));
  expect(left.filter(Boolean)).toHaveLength(2);
  expect(noticeOf(await end(mine, id))).toContain('That session had already ended.');

  expect(noticeOf(await end(mine, 'others'))).toContain('Other sessions that ended: 2.');
  expect(await Promise.all([one, two, three, mine].map(isSignedIn))).toEqual([false, false, false, true]);
  const entries = await audited('session.end');
  expect(entries.map(({ subject, details }) => [subject, details.sessions])).toEqual([
    [`operator:${login}`, 2],
    [`operator:${login}`, 1],
  ]);
});

test('an operator who knows the id of the session of somebody else cannot end it, nor learn that it exists', async () => {
  const victim = await signIn(served.url, login);
  const another = await signIn(served.url, login);
  const [id = ''] = sessionIds(await (await open(victim)).text());
  const attacker = await signIn(served.url, 'vera');
  const guessed = await end(attacker, id);
  const unknown = await end(attacker, '0'.repeat(64));
  expect([guessed.status, noticeOf(guessed)]).toEqual([unknown.status, noticeOf(unknown)]);
  expect(await listAudit(database.sql, { actor: 'vera', action: 'session.end', limit: 5 })).toEqual([]);
  await end(attacker, 'others');
  for (const wrong of ['', 'all', id.slice(1), `${id}0`, login, '%'])
    expect((await end(attacker, wrong)).status).toBe(409);
  expect(await Promise.all([victim, another, attacker].map(isSignedIn))).toEqual([true, true, true]);
});

test('of two sessions that end all others at once, one remains', async () => {
  const both = [await signIn(served.url, login), await signIn(served.url, login)];
  await Promise.all(both.map((cookie) => end(cookie, 'others')));
  expect((await Promise.all(both.map(isSignedIn))).filter(Boolean)).toHaveLength(1);
});

test('a session that was planted or has ended changes nothing, and a change does not adopt a planted one', async () => {
  const planted = `catalogue_session=${'A'.repeat(43)}`;
  const ended = await signIn(served.url, login);
  await post(ended, '/sign-out', {});
  for (const cookie of [planted, ended, '']) {
    expect((await open(cookie)).headers.get('location')).toContain('/sign-in?next=');
    expect((await change(cookie, { current: PASSWORD, password: NEW })).status).toBe(401);
    expect((await end(cookie, 'others')).status).toBe(401);
  }
  const mine = await signIn(served.url, login);
  const answer = await change(mine, { current: PASSWORD, password: NEW, session: 'A'.repeat(43) });
  expect(cookieOf(answer)).not.toBe(planted);
  expect(await isSignedIn(planted)).toBe(false);
});

test('another site neither changes the password nor ends a session', async () => {
  const elsewhere = await signIn(served.url, login);
  const mine = await signIn(served.url, login);
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'http://evil.example' }]) {
    expect((await change(mine, { current: PASSWORD, password: NEW }, headers)).status).toBe(403);
    expect((await end(mine, 'others', headers)).status).toBe(403);
  }
  expect(await Promise.all([elsewhere, mine].map(isSignedIn))).toEqual([true, true]);
  expect(await signsInWith(PASSWORD)).toBe(true);
});

/** A session of an operator without a password here. */
const openFor = async (name: string, by: 'oidc' | 'link', oidc_subject?: string): Promise<string> => {
  const operator = { login: name, name, roles: ['reviewer' as const], ...(oidc_subject && { oidc_subject }) };
  await insertOperator(database.sql, operator);
  const address = '127.0.0.1';
  const session = await database.sql.begin((tx) =>
    openSession(tx, { login: name, by, site: 'console', address }),
  );
  return `catalogue_session=${session}`;
};

test('an operator who signs in by OIDC has no password here: the page says so, and a form sets none', async () => {
  const cookie = await openFor('oidc@games.example', 'oidc', 'https://id.example 1');
  const text = await (await open(cookie)).text();
  expect(text).toContain('You have no password here');
  expect(text).toContain('The OIDC provider gives them, at each sign-in.');
  expect(text).not.toContain('name="current"');
  expect((await change(cookie, { current: '', password: NEW })).status).toBe(409);
  expect((await findOperator(database.sql, 'oidc@games.example'))?.password_hash).toBeNull();
  expect((await end(cookie, 'others')).status).toBe(303);
  expect(await isSignedIn(cookie)).toBe(true);
});

test('an operator who has set no password yet cannot set one with a session alone', async () => {
  const cookie = await openFor('linked', 'link');
  expect(await (await open(cookie)).text()).toContain('npx catalogue operator link linked');
  expect((await change(cookie, { current: '', password: NEW })).status).toBe(409);
  expect((await findOperator(database.sql, 'linked'))?.password_hash).toBeNull();
});

test('no log has a password, and the chain of the audit log is whole', async () => {
  const everything = JSON.stringify([logged, await listAudit(database.sql, { limit: 500 })]);
  for (const word of [PASSWORD, NEW, OTHER, 'guess-', 'argon2', 'catalogue_session'])
    expect(everything).not.toContain(word);
  expect((await verifyAudit(database.sql)).broken).toBeNull();
});
