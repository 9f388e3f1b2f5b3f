import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { documentOf, runCli } from '#test/support/cli.ts';

it.for<[args: string[], says: string]>([
  [['app', 'update', 'acme', '--every', '1.5h'], 'every must be a duration such as 15m'],
  [['app', 'update', 'acme', '--every', '30s'], 'from 1m to 30d.'],
  [['pull', 'acme', 'g-1', ''], 'application_game_ids.1 must not be empty.'],
  [['token', 'create', '--operator', 'kim', '--expires', '10y'], 'expires must be a duration'],
  [['reason', 'add', 'Gambling!', '--label', 'x', '--by', 'kim'], 'code must be lower-case letters'],
])('what is wrong in the input of an operation is named without a database: %j', async ([args, says]) => {
  const { exit, stdout, stderr } = await runCli(args);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(says);
});

describe('A decision on a game', () => {
  const id = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';

  it.for<[args: string[], names: string]>([
    [['pass', id, '--by', ''], '--by'],
    [['reject', id, '--by', '  ', '--reason', 'no icon'], '--by'],
    [['reject', id, '--by', 'kim', '--reason', ''], '--reason'],
    [['pass', id, '--by', 'kim', '--note', ' '], '--note'],
  ])('is refused without a name, or with an empty reason: %j', async ([args, names]) => {
    const result = await runCli(['game', ...args, '--json']);
    expect(result.exit).toBe(2);
    expect(documentOf(result).error).toMatch(new RegExp(`'${names} .*is invalid\\. It is empty`));
  });
});

describe('A wrong environment', () => {
  const wrong = {
    API_PORT: 'http',
    WEBHOOK_ALLOW_HTTP: 'perhaps',
    DATABASE_URL: 'mysql://u:s3cret-word@h/x',
  };

  it('is reported with all its problems, in one JSON document too, with exit code 2', async () => {
    const result = await runCli(['app', 'list', '--json'], wrong);
    expect(result.exit).toBe(2);
    for (const variable of Object.keys(wrong)) {
      expect(result.stderr).toContain(`  - ${variable}`);
      expect(documentOf(result).error).toContain(variable);
    }
    expect(result.stdout + result.stderr).not.toContain('s3cret-word');
  });
});

describe('Without a database', () => {
  const env = { CATALOGUE_HOME: '/nonexistent/catalogue-home' };

  it('a role of the fleet names the variable to set and exits with code 2', async () => {
    const { exit, stderr } = await runCli(['worker'], env);
    expect(exit).toBe(2);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).toContain('npx catalogue up');
  });

  it('a command says what to start', async () => {
    const result = await runCli(['run', 'list', '--json'], env);
    expect(result.exit).toBe(2);
    expect(documentOf(result).error).toContain('No embedded Postgres runs in /nonexistent/catalogue-home');
  });

  it('that answers, a command names the address', async () => {
    const away = { DATABASE_URL: 'postgres://u:s3cret-word@127.0.0.1:9/x' };
    const result = await runCli(['sync', 'acme', '--json'], { ...env, ...away });
    expect(result.exit).toBe(1);
    expect(documentOf(result).error).toContain('The server at 127.0.0.1:9 is unreachable (ECONNREFUSED)');
    expect(result.stdout + result.stderr).not.toContain('s3cret-word');
    expect(result.stderr).not.toContain('    at ');
  });

  it('that refuses the password, a command names the variables to check', async () => {
    const url = new URL(inject('adminDatabaseUrl'));
    url.password = 's3cret-word';
    const result = await runCli(['app', 'list', '--json'], { ...env, DATABASE_URL: url.href });
    expect(result.exit).toBe(1);
    expect(documentOf(result).error).toMatch(
      /password authentication failed .* Check the user and the password of DATABASE_URL/,
    );
    expect(result.stdout + result.stderr).not.toContain('s3cret-word');
  });

  it('that keeps a connection, a command says the same', async () => {
    const server = createServer((socket) => socket.resetAndDestroy());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const resetting = { DATABASE_URL: `postgres://u@127.0.0.1:${port}/x` };
    const result = await runCli(['app', 'list', '--json'], { ...env, ...resetting });
    server.close();
    expect(result.exit).toBe(1);
    expect(documentOf(result).error).toMatch(/^(A|The) server.* is unreachable.*check DATABASE_URL/);
    expect(result.stderr).not.toContain('    at ');
  });
});
