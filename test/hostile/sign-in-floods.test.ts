import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { operate } from '#src/operations/operate.ts';
import { createToken, revokeOwnToken } from '#src/operations/tokens.ts';
import {
  addTestOperator,
  PASSWORD,
  signIn,
  startTestConsole,
  type TestConsole,
} from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { startProvider, type TestProvider } from '#test/support/openid-provider.ts';
import { KIM, operatorCaller, testPlatform } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
let served: TestConsole;
let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider('client_secret_post');
  served = await startTestConsole(database, { oidc: provider.settings, trustedProxies: ['127.0.0.1'] });
  provider.serve(served.url);
});
afterAll(async () => {
  await served?.stop();
  await provider?.stop();
});

/** Rows of a table, and their bytes as text: Postgres may extend a table's file ahead of what it holds. */
const sizeOf = async (table: string): Promise<{ rows: number; bytes: number }> => {
  const { sql } = database;
  const [row] = await sql<{ rows: number; bytes: number }[]>`
    select count(*)::int as rows, coalesce(sum(octet_length(t::text)), 0)::int as bytes from ${sql(table)} t`;
  return row ?? { rows: 0, bytes: 0 };
};

/** Requests in groups of 20, each from an address. */
const repeat = async (count: number, request: (n: number) => Promise<Response>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let from = 0; from < count; from += 20) {
    const group = Array.from({ length: Math.min(20, count - from) }, (_, n) => request(from + n));
    for (const answer of await Promise.all(group)) {
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
  }
  return statuses;
};
const post = (path: string, body: Record<string, string>, address: string) =>
  fetch(new URL(path, served.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'x-forwarded-for': address },
    body: new URLSearchParams(body),
  });
/** Of different networks. */
const addressOf = (n: number): string => `2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`;

test('an address that begins sign-ins at the provider without end fills no table', async () => {
  const next = `/games?search=${'x'.repeat(6_000)}`;
  const begin = () =>
    fetch(new URL(`/sign-in/oidc?next=${next}`, served.url), {
      redirect: 'manual',
      headers: { 'x-forwarded-for': '192.0.2.1' },
    });
  const statuses = await repeat(400, begin);
  expect(new Set(statuses)).toEqual(new Set([303, 429]));
  expect(Number((await begin()).headers.get('retry-after'))).toBeGreaterThan(0);
  const { rows, bytes } = await sizeOf('oidc_flows');
  expect(rows).toBe(100);
  expect(bytes).toBeLessThan(100_000);
});

test('a console deletes the expired sign-ins by itself, although no operator signs in', async () => {
  await database.sql`update oidc_flows set expires_at = now() - interval '1 minute'`;
  const other = await startTestConsole(database);
  await until('they are deleted', async () => (await sizeOf('oidc_flows')).rows === 0);
  await other.stop();
});

test('a token that signs in at the portal without end fills neither the sessions nor the audit log', async () => {
  await addApplication(database.sql, 'acme');
  const { token } = await addToken(database.sql, 'acme');
  const before = (await sizeOf('audit_log')).rows;
  const statuses = await repeat(200, (n) => post('/portal/sign-in', { token }, addressOf(n)));
  expect(statuses.filter((status) => status === 303)).toHaveLength(30);
  expect(statuses.filter((status) => status === 429)).toHaveLength(170);
  expect((await sizeOf('portal_sessions')).rows).toBe(30);
  expect((await sizeOf('audit_log')).rows - before).toBe(30);
});

test('wrong tokens from a thousand networks and more do not fill the audit log, and are refused all the same', async () => {
  const before = (await sizeOf('audit_log')).rows;
  const statuses = await repeat(1_300, (n) => post('/portal/sign-in', { token: `no-${n}` }, addressOf(n)));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect((await sizeOf('audit_log')).rows - before).toBe(1_000);
});

test('a viewer who tries without end what a viewer may not do writes few entries, and the log has their number', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'vera', 'viewer');
  const cookie = await signIn(served.url, 'vera');
  const statuses = await repeat(300, () =>
    fetch(new URL('/operators', served.url), {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams(),
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([403]));
  const entries = await listAudit(sql, { actor: 'vera', action: 'access.refuse', limit: 400 });
  expect(entries.length).toBe(33);
  expect(entries[0]?.details).toMatchObject({ refusals: 240 });
});

test('somebody with the password who signs in without end fills neither the sessions nor the audit log', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'vito', 'viewer');
  const statuses = await repeat(140, (n) =>
    post('/sign-in', { login: 'vito', password: PASSWORD }, addressOf(n)),
  );
  expect(statuses.filter((status) => status === 303)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  expect(await listAudit(sql, { actor: 'vito', limit: 400 })).toHaveLength(100);
});

test('a viewer who switches a preference, or revokes an own token, without end fills no log', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'vada', 'viewer');
  const cookie = await signIn(served.url, 'vada');
  const before = (await sizeOf('audit_log')).rows;
  const statuses = await repeat(40, (n) =>
    fetch(new URL('/account/keys', served.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ single_keys: String(n % 2 === 0) }),
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([303]));
  expect((await sizeOf('audit_log')).rows).toBe(before);
  const { token_id } = await operate(createToken, { login: 'vada' }, KIM, testPlatform(sql));
  const vada = { ...operatorCaller('vada', 'viewer'), token_id: 'another' };
  for (let n = 0; n < 5; n += 1)
    expect(await operate(revokeOwnToken, { token_id }, vada, testPlatform(sql))).toMatchObject({
      state: 'revoked',
    });
  expect(await listAudit(sql, { actor: 'vada', action: 'token.revoke', limit: 9 })).toHaveLength(1);
});
