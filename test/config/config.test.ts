import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '#src/config.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';

/** The error of readConfig for this environment. */
const rejection = (env: Record<string, string>): CatalogueError => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof CatalogueError) return error;
    throw error;
  }
  throw new Error('readConfig accepted this environment');
};

it('needs nothing: an empty environment is the embedded default', () => {
  expect(readConfig({})).toMatchObject({
    databaseUrl: undefined,
    redisUrl: undefined,
    encryptionKeys: undefined,
    queuePrefix: '{catalogue}',
    api: { host: '127.0.0.1', port: 8080 },
    board: { host: '127.0.0.1', port: 8081, login: null, readOnly: false, trustedProxies: [] },
    webhooks: { allowHttp: false, allowNetworks: [] },
    auditTimeZone: 'UTC',
    logLevel: 'info',
    home: resolve('.catalogue'),
  });
});

it('takes an empty variable for an absent one', () => {
  expect(readConfig({ DATABASE_URL: '', API_PORT: '', WEBHOOK_ALLOW_HTTP: '' })).toEqual(readConfig({}));
});

it('reads a fleet', () => {
  const keys = `k2:${Buffer.alloc(32, 2).toString('base64')},k1:${Buffer.alloc(32, 1).toString('base64')}`;
  const config = readConfig({
    DATABASE_URL: 'postgresql://catalogue:secret@db.example/catalogue',
    REDIS_URL: 'rediss://:secret@redis.example:6380/2',
    QUEUE_PREFIX: 'games{a}',
    ENCRYPTION_KEYS: keys,
    BOARD_USER: 'kim',
    BOARD_PASSWORD: 'secret',
    BOARD_READ_ONLY: 'TRUE',
    BOARD_TRUSTED_PROXIES: '10.0.0.2, 10.1.0.0/16,fd00::/8',
    WEBHOOK_ALLOW_HTTP: '1',
    WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8, fd00::/8',
    AUDIT_TIME_ZONE: 'Asia/Shanghai',
  });
  expect(config).toMatchObject({
    databaseUrl: 'postgresql://catalogue:secret@db.example/catalogue',
    redisUrl: 'rediss://:secret@redis.example:6380/2',
    queuePrefix: 'games{a}',
    encryptionKeys: keys,
    board: {
      login: { user: 'kim', password: 'secret' },
      readOnly: true,
      trustedProxies: ['10.0.0.2', '10.1.0.0/16', 'fd00::/8'],
    },
    webhooks: { allowHttp: true, allowNetworks: ['10.0.0.0/8', 'fd00::/8'] },
    auditTimeZone: 'Asia/Shanghai',
  });
});

it('names every problem in one message, and leaves with exit code 2', () => {
  const wrong = {
    DATABASE_URL: 'mysql://db.example',
    REDIS_URL: 'http://redis.example',
    QUEUE_PREFIX: 'a:b',
    ENCRYPTION_KEYS: 'k1:short',
    API_PORT: '70000',
    BOARD_PORT: 'eighty',
    METRICS_PORT: '-1',
    BOARD_READ_ONLY: 'perhaps',
    BOARD_TRUSTED_PROXIES: '10.2.0.0/16,proxy.example,0.0.0.0/0',
    WEBHOOK_ALLOW_HTTP: 'yes please',
    WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8,10.0.0.1,fd00::/129',
    AUDIT_TIME_ZONE: 'Atlantis',
    LOG_LEVEL: 'loud',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  const error = rejection(wrong);
  expect(error).toBeInstanceOf(UsageError);
  expect(error.exitCode).toBe(2);
  for (const variable of Object.keys(wrong)) expect(error.message).toContain(`  - ${variable}`);
  expect(error.message).toContain('"10.0.0.1"');
  expect(error.message).toContain('"fd00::/129"');
  expect(error.message).not.toContain('"10.0.0.0/8"');
  expect(error.message).toContain('"proxy.example"');
  expect(error.message).toContain('"0.0.0.0/0"');
  expect(error.message).not.toContain('"10.2.0.0/16"');
  expect(error.message).toContain('.env.example');
});

it('names what only two variables show together beside what one shows alone', () => {
  const { message } = rejection({
    API_PORT: 'x',
    BOARD_USER: 'a',
    REDIS_URL: 'redis://h',
    ENCRYPTION_KEYS: 'bad',
  });
  expect(message.split('\n').filter((line) => line.startsWith('  - '))).toEqual([
    '  - ENCRYPTION_KEYS entry 1 is not ID:BASE64, as in k1:….',
    '  - API_PORT is not a port number',
    '  - BOARD_USER and BOARD_PASSWORD go together: set both or neither',
    '  - REDIS_URL is set without DATABASE_URL: a fleet needs both, the embedded default neither',
  ]);
});

it.for<[what: string, env: Record<string, string>, named: string]>([
  ['a login without its password', { BOARD_USER: 'kim' }, 'BOARD_PASSWORD'],
  ['a password without its user', { BOARD_PASSWORD: 'secret' }, 'BOARD_USER'],
  ['Redis without a database', { REDIS_URL: 'redis://redis.example' }, 'DATABASE_URL'],
])('refuses %s', ([, env, named]) => {
  expect(rejection(env).message).toContain(named);
});

it('never repeats the value of a secret', () => {
  const secret = 'do-not-repeat-me';
  const values = {
    DATABASE_URL: `mysql://u:${secret}@db.example/x`,
    REDIS_URL: `redis://u:${secret}@a,b:c:d/x`,
    ENCRYPTION_KEYS: `k1:${secret}`,
    BOARD_PASSWORD: secret,
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
