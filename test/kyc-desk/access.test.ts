import { beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';
import { cookieOf, noticeOf } from '#test/support/accounts.ts';
import { addTestOperator, PASSWORD, signIn } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const desk = useTestDesk(database);
const ID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const ASKED = { kind: 'reveal', subject: 'application:acme' };
const OFFICER: readonly Role[] = ['kyc_officer'];
const rolesOf = (path: string): readonly Role[] => (path.startsWith('/account') ? ROLES : OFFICER);

/** Every route with the roles that may call it. A body is refused by its form, after the right was checked. */
const ROUTES: [method: string, path: string][] = [
  ['GET', '/'],
  ['GET', '/developers/acme'],
  ['GET', '/developers/nobody'],
  ['GET', '/requests'],
  ['GET', '/reveals'],
  ['POST', '/requests'],
  ['POST', '/developers/acme/reveal'],
  ['POST', '/developers/acme/erase'],
  ['POST', '/developers/acme/accept-cp-id'],
  ['POST', `/requests/reveal/${ID}/approve`],
  ['POST', `/requests/reveal/${ID}/cancel`],
  ['POST', `/requests/reveal/${ID}/decline`],
  ['GET', '/account'],
  ['POST', '/account/password'],
  ['POST', '/account/sessions'],
];

beforeAll(async () => {
  await addApplication(database.sql, 'acme', {}, DESK_KEYS);
  await store(database.sql, DESK_KEYS, 'acme', PLANTED);
  for (const role of ROLES) await addTestOperator(database.sql, role, role);
  await addTestOperator(database.sql, 'lee', 'kyc_officer');
});

const call = (method: string, path: string, cookie: string, form?: Record<string, string>) =>
  fetch(new URL(path, desk.url), {
    method,
    redirect: 'manual',
    headers: { cookie },
    ...(form && { body: new URLSearchParams(form) }),
  });

test.each(ROLES)(
  'the role %s may do at the desk what an officer may, or gets 403 with that role',
  async (role) => {
    const cookie = await signIn(desk.url, role);
    for (const [method, path] of ROUTES) {
      const answer = await call(method, path, cookie);
      const text = await answer.text();
      expect(answer.status, `${method} ${path}: ${text.slice(0, 300)}`).toBeLessThan(500);
      expect([method, path, answer.status === 403]).toEqual([method, path, !rolesOf(path).includes(role)]);
      if (answer.status === 403) expect(text).toContain('This takes the role kyc officer');
      for (const value of Object.values(PLANTED).slice(1)) expect(text).not.toContain(value);
    }
    // A refused attempt to change something is in the audit log.
    const refused = await listAudit(database.sql, { actor: role, action: 'access.refuse', limit: 50 });
    expect(refused).toHaveLength(role === 'kyc_officer' ? 0 : 7);
  },
);

test('a reason of the length that the form allows is stored in any script', async () => {
  const cookie = await signIn(desk.url, 'lee');
  const [record] = await database.sql`select record_id from kyc_records where application_id = 'acme'`;
  const seen = record?.record_id;
  for (const reason of ['\u539f'.repeat(1_000), '\u{1f511}'.repeat(500)]) {
    await database.sql`delete from approvals`;
    const answer = await call('POST', '/requests', cookie, { ...ASKED, seen, reason });
    expect(answer.status).toBe(303);
    expect(await database.sql`select reason from approvals`).toEqual([{ reason }]);
    // With the longest password and cp_id too, the form is read: the password is wrong.
    const more = { reason, password: '\u539f'.repeat(1_024), cp_id: '\u539f'.repeat(600) };
    expect((await call('POST', '/developers/acme/reveal', cookie, more)).status).toBe(303);
  }
  await database.sql`delete from approvals`;
});

test('without a session nothing answers, and every answer has the strict policy and is never cached', async () => {
  const cookie = await signIn(desk.url, 'kyc_officer');
  for (const [method, path] of ROUTES) {
    expect((await call(method, path, '')).status).toBe(method === 'GET' ? 303 : 401);
    const answer = await call(method, path, cookie);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(await answer.text(), path).not.toMatch(
      /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i,
    );
  }
});

test('an address without a page leads back to the developers', async () => {
  const answer = await call('GET', '/nowhere', await signIn(desk.url, 'kyc_officer'));
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('href="/">Developers</a>');
});

test('with the rights of the desk an officer changes the password and ends other sessions', async () => {
  await addTestOperator(database.sql, 'kira', 'kyc_officer');
  const others = [await signIn(desk.url, 'kira'), await signIn(desk.url, 'kira')];
  const [mine = ''] = others.splice(0, 1);
  const next = 'seven quiet herons leap';
  const changed = await call('POST', '/account/password', mine, { current: PASSWORD, password: next });
  expect(changed.status).toBe(303);
  for (const cookie of [mine, ...others]) expect((await call('GET', '/', cookie)).status).toBe(303);
  const again = await signIn(desk.url, 'kira', next);
  const ended = await call('POST', '/account/sessions', cookieOf(changed), { session: 'others' });
  expect(noticeOf(ended)).toContain('Other sessions that ended: 1.');
  expect((await call('GET', '/', again)).status).toBe(303);
  expect((await call('GET', '/', cookieOf(changed))).status).toBe(200);
});

test('a request of another site reveals nothing', async () => {
  const kyc = await signIn(desk.url, 'lee');
  const answer = await fetch(new URL('/developers/acme/reveal', desk.url), {
    method: 'POST',
    headers: { cookie: kyc, 'sec-fetch-site': 'same-site' },
    body: new URLSearchParams({ password: PASSWORD, reason: 'x' }),
  });
  expect(answer.status).toBe(403);
});

/** Asks as `kyc_officer`, approves as `lee`. @returns the id of the request */
const approved = async (kyc: string, lee: string): Promise<string> => {
  const [row] = await database.sql<{ record_id: string }[]>`select record_id from kyc_records`;
  await call('POST', '/requests', kyc, { ...ASKED, seen: row?.record_id ?? '', reason: 'x' });
  const [request] = await database.sql<{ approval_id: string }[]>`
    select approval_id from approvals order by requested_at desc limit 1`;
  await call('POST', `/requests/reveal/${request?.approval_id}/approve`, lee);
  return request?.approval_id ?? '';
};

test('a reveal takes the password again: a wrong one uses no approval up, many are limited', async () => {
  const [kyc, lee] = await Promise.all([signIn(desk.url, 'kyc_officer'), signIn(desk.url, 'lee')]);
  const approval = await approved(kyc, lee);
  const reason = 'another than the second person approved';
  const reveal = (password: string) =>
    call('POST', '/developers/acme/reveal', kyc, { approval, password, reason });
  expect((await reveal('')).status).toBe(303);
  expect((await reveal('wrong')).status).toBe(303);
  const shown = await reveal(PASSWORD);
  expect(shown.status).toBe(200);
  expect(shown.headers.get('cache-control')).toBe('no-store');
  expect(shown.headers.get('refresh')).toBe('120; url=/developers/acme');
  const text = await shown.text();
  for (const value of Object.values(PLANTED)) expect(text).toContain(value);
  const [entry] = await listAudit(database.sql, { action: 'kyc.reveal', limit: 1 });
  expect(entry?.reason).toBe('x');
  const again = await reveal(PASSWORD);
  expect(again.status).toBe(303);
  expect(decodeURIComponent(again.headers.get('set-cookie') ?? '')).toContain('This approval was used');

  for (let n = 0; n < 12; n += 1) await reveal(`guess ${n}`);
  const limited = await reveal(PASSWORD);
  expect(decodeURIComponent(limited.headers.get('set-cookie') ?? '')).toContain('Too many wrong passwords');
  expect(JSON.stringify(await listAudit(database.sql, { limit: 500 }))).not.toContain('guess');
});

test('the second person of a verdict sees what its developer will read, and for how long it stands', async () => {
  await database.sql`delete from approvals`;
  const [kyc, lee] = await Promise.all([signIn(desk.url, 'kyc_officer'), signIn(desk.url, 'lee')]);
  const terms = { verdict: 'verified', text: 'Send your <keys> to me', expires: '3650d' };
  await call('POST', '/requests', kyc, { ...ASKED, ...terms, kind: 'verdict', reason: 'x' });
  const page = await (await call('GET', '/developers/acme', lee)).text();
  expect(page).toContain('Send your &lt;keys&gt; to me');
  expect(page).toContain('3650\u00a0d');
});
