import { expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { findOperator, insertOperator } from '#db/queries/operators.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { openSession, readLink } from '#src/identity/sign-in.ts';
import { useOwnAccount } from '#test/console/own-account.ts';
import { cookieOf, noticeOf } from '#test/support/accounts.ts';
import { PASSWORD, signIn, TESTS } from '#test/support/console.ts';
import { linkOperator } from '#test/support/operate.ts';

const NEW = 'seven quiet herons leap';
const OTHER = 'eight loud ravens sleep';

const { database, logged, open, isSignedIn, post, change, end, signsInWith, audited, url, login } =
  useOwnAccount();

test('a change gives this browser a new session, ends all others and every copy of the former cookie, and is in the audit log', async () => {
  const elsewhere = await signIn(url(), login());
  const mine = await signIn(url(), login());
  const link = await linkOperator(database.sql, TESTS, login());
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
  expect(entry).toMatchObject({ subject: `operator:${login()}`, actor_kind: 'operator' });
  expect(entry?.details).toEqual({ sessions: 1, address: '127.0.0.1' });
});

test('a stolen session changes nothing without the current password; guesses are counted', async () => {
  const stolen = await signIn(url(), login());
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
  const warned = logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'too many passwords');
  expect(warned[0]).toMatchObject({ login: login(), address: '127.0.0.1' });
  const keys = await database.sql<{ attempt_key: string }[]>`
    select attempt_key from sign_in_attempts where attempts > 10 order by 1`;
  expect(keys.map(({ attempt_key }) => attempt_key)).toEqual([`confirm:${login()}`]);
  expect(await audited('operator.password')).toEqual([]);
  expect((await audited('session.refuse'))[0]?.reason).toBe('wrong current password for a new one');
  await database.sql`delete from sign_in_attempts`;
  expect(await signsInWith(PASSWORD)).toBe(true);
});

test('a stolen session has a new password judged, which takes time, no more often than it may guess the current one', async () => {
  const stolen = await signIn(url(), login());
  const statuses: number[] = [];
  for (let n = 0; n < 12; n += 1)
    statuses.push((await change(stolen, { current: `guess-${n}`, password: 'a'.repeat(20) })).status);
  expect(statuses).toEqual([...Array(10).fill(422), 429, 429]);
  await database.sql`delete from sign_in_attempts`;
});

test('with the password, ten new ones are set in 15 minutes: each is judged, and is an entry of the audit log', async () => {
  let cookie = await signIn(url(), login());
  const entries = (await audited('operator.password')).length;
  for (let n = 0; n < 10; n += 1) {
    const set = await change(cookie, { current: n % 2 ? NEW : PASSWORD, password: n % 2 ? PASSWORD : NEW });
    cookie = cookieOf(set);
  }
  expect((await change(cookie, { current: PASSWORD, password: 'a'.repeat(20) })).status).toBe(429);
  expect((await audited('operator.password')).length - entries).toBe(10);
});

test('a new password follows the rules of the first one, and is another than the current one', async () => {
  const cookie = await signIn(url(), login());
  for (const [password, problem] of [
    ['too short', 'at least 15 characters'],
    ['passwordpassword', 'easy to guess'],
    [`${login()}${login()}${login()}`, 'easy to guess'],
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
    const first = await signIn(url(), login());
    const second = which === 'of one session' ? first : await signIn(url(), login());
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
    expect(await database.sql`select from operator_sessions where login = ${login()}`).toHaveLength(1);
    expect(await audited('operator.password')).toHaveLength(1);
    expect([await signsInWith(NEW), await signsInWith(OTHER)]).toEqual([won === 0, won === 1]);
  },
);

test('a session that was planted or has ended changes nothing, and a change does not adopt a planted one', async () => {
  const planted = `catalogue_session=${'A'.repeat(43)}`;
  const ended = await signIn(url(), login());
  await post(ended, '/sign-out', {});
  for (const cookie of [planted, ended, '']) {
    expect((await open(cookie)).headers.get('location')).toContain('/sign-in?next=');
    expect((await change(cookie, { current: PASSWORD, password: NEW })).status).toBe(401);
    expect((await end(cookie, 'others')).status).toBe(401);
  }
  const mine = await signIn(url(), login());
  const answer = await change(mine, { current: PASSWORD, password: NEW, session: 'A'.repeat(43) });
  expect(cookieOf(answer)).not.toBe(planted);
  expect(await isSignedIn(planted)).toBe(false);
});

test('another site neither changes the password nor ends a session', async () => {
  const elsewhere = await signIn(url(), login());
  const mine = await signIn(url(), login());
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
