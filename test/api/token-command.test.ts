import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addApplication, LIST, post, startApi, type TestApi } from './support.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await addApplication(api.sql, 'acme');
});
afterAll(() => api.close());

const catalogue = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((done) => {
    const env = { ...process.env, DATABASE_URL: api.databaseUrl, REDIS_URL: '' };
    const child = execFile(
      process.execPath,
      ['src/cli/catalogue.ts', ...args],
      { env },
      (_error, stdout, stderr) => done({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
const list = (token: string) => post(api.url, LIST, token, { audit_status: 'pending' });

test('token create shows a token that works, token revoke ends it at once, token list shows neither secret nor hash', async () => {
  const made = await catalogue('token', 'create', '--application', 'acme', '--expires', '90d', '--json');
  expect(made).toMatchObject({ code: 0 });
  const { token, token_id, application_id, expires_at } = JSON.parse(made.stdout);
  expect(application_id).toBe('acme');
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(89 * 24 * 3_600_000);
  expect((await list(token)).status).toBe(200);

  expect(await catalogue('token', 'revoke', token_id)).toMatchObject({ code: 0 });
  expect((await list(token)).body.ret_code).toBe(40103);

  const listed = await catalogue('token', 'list', '--json');
  expect(JSON.parse(listed.stdout).tokens).toMatchObject([
    { token_id, application_id: 'acme', state: 'revoked' },
  ]);
  expect(listed.stdout).not.toContain('hash');
  expect(listed.stdout).not.toContain(token.slice(4, 20));
});

test('without --json the token stands alone on stdout, for a pipe', async () => {
  const { stdout, stderr } = await catalogue('token', 'create', '--operator');
  expect((await list(stdout.trim())).status).toBe(200);
  expect(stderr).not.toContain(stdout.trim());
});

test('whose token it is must be said, once, and be known: exit 2', async () => {
  for (const whose of [[], ['--operator', '--application', 'acme'], ['--application', 'nobody']]) {
    const { code, stdout } = await catalogue('token', 'create', ...whose);
    expect([code, stdout]).toEqual([2, '']);
  }
  expect(await catalogue('token', 'revoke', '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b')).toMatchObject({
    code: 2,
  });
});

test('openapi prints the two documents', async () => {
  for (const [which, operation] of [
    ['platform', 'listByAuditStatus'],
    ['application', 'queryKYC'],
  ] as const) {
    const { code, stdout } = await catalogue('openapi', which);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).openapi).toMatch(/^3\.1\./);
    expect(stdout).toContain(operation);
  }
});
