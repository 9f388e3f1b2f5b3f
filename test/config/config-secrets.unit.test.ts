import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '#src/config.ts';
import { rejection } from '#test/config/rejection.ts';

it('never repeats the value of a secret', () => {
  const secret = 'do-not-repeat-me';
  const values = {
    DATABASE_URL: `mysql://u:${secret}@db.example/x`,
    REDIS_URL: `redis://u:${secret}@a,b:c:d/x`,
    ENCRYPTION_KEYS: `k1:${secret}`,
    OIDC_CLIENT_SECRET: secret,
  };
  for (const [name, value] of Object.entries(values)) {
    expect(rejection({ LOG_LEVEL: 'loud', [name]: value }).message).not.toContain(secret);
  }
  expect(rejection({ LOG_LEVEL: 'loud', ...values }).message).not.toContain(secret);
});

it.for(['redis://:%E0%A4%A@redis.example', 'redis://redis.example:99999', 'redis+cluster://a:1,b:x'])(
  'refuses REDIS_URL=%s as usage',
  (REDIS_URL) => {
    expect(rejection({ DATABASE_URL: 'postgres://db.example/x', REDIS_URL }).message).toContain(
      '  - REDIS_URL',
    );
  },
);

it.for(['postgres://u:p%zz@db.example/x', 'postgres://u@db.example/100%'])(
  'refuses DATABASE_URL=%s as usage, without repeating it',
  (DATABASE_URL) => {
    const { message } = rejection({ DATABASE_URL });
    expect(message).toContain('  - DATABASE_URL has a "%" that is not percent-encoded');
    expect(message).not.toContain(DATABASE_URL);
  },
);

it.each([
  'sslmode=require',
  'sslmode=prefer',
  'sslmode=allow',
  'sslmode=verify-ca',
  'ssl=true',
  'SSLMODE=require',
])('refuses %s, which verifies no server, with the words that do', (parameter) => {
  const { message, exitCode } = rejection({
    DATABASE_URL_WORKER: `postgres://u:secret@db.example/c?${parameter}`,
  });
  expect(exitCode).toBe(2);
  expect(message).toContain(`DATABASE_URL_WORKER has ${parameter}, with which the driver does not verify`);
  expect(message).toContain('write sslmode=verify-full');
  expect(message).not.toContain('secret');
});

it.each(['', '?sslmode=verify-full', '?sslmode=disable&application_name=x'])(
  'takes DATABASE_URL with "%s"',
  (query) => {
    expect(readConfig({ DATABASE_URL: `postgres://u@db/c${query}` }).databaseUrl).toContain(query);
  },
);

it('reads a secret from the file that NAME_FILE names', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-config-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'url');
  await writeFile(file, 'postgres://u:secret@db/c\n');
  expect(readConfig({ DATABASE_URL_WORKER_FILE: file }).databaseUrls.worker).toBe('postgres://u:secret@db/c');
  expect(rejection({ DATABASE_URL_FILE: file, DATABASE_URL: 'postgres://u@db/c' }).message).toContain(
    'DATABASE_URL and DATABASE_URL_FILE are both set',
  );
  expect(rejection({ ENCRYPTION_KEYS_FILE: `${file}-gone` }).message).toContain(
    'ENCRYPTION_KEYS_FILE: its file cannot be read (ENOENT)',
  );
  const { message } = rejection({ ENCRYPTION_KEYS_FILE: file });
  expect(message).toContain('ENCRYPTION_KEYS');
  expect(message).not.toContain('secret');
});
