import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LIST, post, useTestApi } from '#test/support/api.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { runCli } from '#test/support/cli.ts';
import { addTestOperator } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { asOperator } from '#test/support/roles.ts';

const api = useTestApi();
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'catalogue-tokens-'));
  await addApplication(api.sql, 'acme');
  await addTestOperator(api.sql, 'olga', 'viewer');
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

const catalogue = (...args: string[]) =>
  runCli(args, {
    ...asOperator(api.databaseUrl),
    CATALOGUE_HOME: home,
    LEAVING_TOKEN: 'what-leaving-takes-from-us',
  });
const list = (token: string) => post(api.url, LIST, token, { audit_status: 'pending' });

test('token create prints a working token, token revoke ends it at once, token list shows neither token nor hash', async () => {
  const made = await catalogue('token', 'create', '--application', 'acme', '--expires', '90d', '--json');
  expect(made).toMatchObject({ exit: 0 });
  const { token, token_id, application_id, expires_at } = JSON.parse(made.stdout);
  expect(application_id).toBe('acme');
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(89 * 24 * 3_600_000);
  expect((await list(token)).status).toBe(200);

  const revoked = await catalogue('token', 'revoke', token_id, '--json');
  expect(JSON.parse(revoked.stdout)).toEqual({ token_id, state: 'revoked' });
  expect((await list(token)).body.ret_code).toBe(40103);

  const listed = await catalogue('token', 'list', '--json');
  expect(JSON.parse(listed.stdout).tokens).toMatchObject([
    { token_id, application_id: 'acme', state: 'revoked' },
  ]);
  expect(listed.stdout).not.toContain('hash');
  expect(listed.stdout).not.toContain(token.slice(4, 20));
});

test('a token lasts as long as it was made for, by the clock of Postgres: that of the machine may be wrong', async () => {
  for (const aheadMs of [-3_600_000, 3_600_000]) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
    const made = await catalogue('token', 'create', '--application', 'acme', '--expires', '30m', '--json');
    const listed = await catalogue('token', 'list', '--json');
    vi.useRealTimers();
    const { token, token_id, expires_at } = JSON.parse(made.stdout);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(29 * 60_000);
    expect(Date.parse(expires_at) - Date.now()).toBeLessThan(31 * 60_000);
    expect((await list(token)).status).toBe(200);
    expect(JSON.parse(listed.stdout).tokens).toContainEqual(
      expect.objectContaining({ token_id, state: 'valid' }),
    );
  }
});

test('a token ends with its application, also after the id is registered again', async () => {
  const webhooks = ['query-game-list', 'query-game-detail', 'query-cp-kyc'].flatMap((operation) => [
    `--${operation}-webhook`,
    'https://127.0.0.1/',
  ]);
  const tokenFrom = ['--access-token-env', 'LEAVING_TOKEN'];
  const register = ['app', 'add', 'leaving', '--name', 'Leaving', ...tokenFrom, ...webhooks];
  expect(await catalogue(...register)).toMatchObject({ exit: 0 });
  const made = await catalogue('token', 'create', '--application', 'leaving', '--json');
  const { token, token_id } = JSON.parse(made.stdout);
  expect((await list(token)).status).toBe(200);
  const stateOf = async () => {
    const { tokens } = JSON.parse((await catalogue('token', 'list', '--json')).stdout);
    return tokens.find((each: { token_id: string }) => each.token_id === token_id);
  };

  expect(await catalogue('app', 'remove', 'leaving')).toMatchObject({ exit: 0 });
  const ended = await stateOf();
  expect(ended.state).toBe('revoked');
  expect((await list(token)).body.ret_code).toBe(40103);

  expect(await catalogue(...register, '--same-owner')).toMatchObject({ exit: 0 });
  expect(await stateOf()).toEqual(ended);
  expect((await list(token)).body.ret_code).toBe(40103);
  const second = await catalogue('token', 'create', '--application', 'leaving');
  expect((await list(second.stdout.trim())).status).toBe(200);
});

test('without --json, stdout has the token alone', async () => {
  const { stdout, stderr } = await catalogue('token', 'create', '--operator', 'olga');
  expect((await list(stdout.trim())).status).toBe(200);
  expect(stderr).not.toContain(stdout.trim());
});

test('exactly one owner that exists is required: exit 2', async () => {
  for (const whose of [
    [],
    ['--operator', 'olga', '--application', 'acme'],
    ['--application', 'nobody'],
    ['--operator', 'nobody'],
  ]) {
    const { exit, stdout } = await catalogue('token', 'create', ...whose);
    expect([exit, stdout]).toEqual([2, '']);
  }
  expect(await catalogue('token', 'revoke', '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b')).toMatchObject({
    exit: 2,
  });
});

test('openapi prints the two documents', async () => {
  for (const [which, operation] of [
    ['platform', 'listByAuditStatus'],
    ['application', 'queryKYC'],
  ] as const) {
    const { exit, stdout } = await catalogue('openapi', which);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).openapi).toMatch(/^3\.1\./);
    expect(stdout).toContain(operation);
  }
});

test('an operator who is disabled meanwhile gets no token, and the refusal names the operator', async () => {
  await addTestOperator(api.sql, 'meanwhile', 'viewer');
  const made = await api.sql.begin(async (tx) => {
    await tx`update operators set status = 'disabled' where login = 'meanwhile'`;
    const making = catalogue('token', 'create', '--operator', 'meanwhile');
    await untilBlocked(api.sql);
    return [making] as const;
  });
  expect(await made[0]).toMatchObject({ exit: 2, stderr: expect.stringContaining('meanwhile is disabled') });
});
