import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { configFor, readConfig } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';
import { rejection } from '#test/config/rejection.ts';

it('needs nothing: an empty environment is the embedded default', () => {
  expect(readConfig({})).toMatchObject({
    databaseUrl: undefined,
    redisUrl: undefined,
    encryptionKeys: undefined,
    queuePrefix: '{catalogue}',
    api: { host: '127.0.0.1', port: 8080 },
    console: { host: '127.0.0.1', port: 8081, url: 'http://127.0.0.1:8081', trustedProxies: [], oidc: null },
    webhooks: { allowHttp: false, allowNetworks: [] },
    auditTimeZone: 'UTC',
    logLevel: 'info',
    home: resolve('.catalogue'),
  });
});

it.each([
  ['0.0.0.0', 'http://127.0.0.1:8081'],
  ['::', 'http://127.0.0.1:8081'],
  ['10.0.0.5', 'http://10.0.0.5:8081'],
  ['fd00::5', 'http://[fd00::5]:8081'],
])('gives a console that listens on %s an address that a browser can open', (CONSOLE_HOST, url) => {
  expect(readConfig({ CONSOLE_HOST }).console.url).toBe(url);
});

it('lets two persons act by default once there are two, and reads what FOUR_EYES says', () => {
  const read = (FOUR_EYES: string) => readConfig({ FOUR_EYES }).fourEyes;
  expect(readConfig({}).fourEyes).toEqual({
    kinds: ['reveal', 'erase', 'cp-id', 'verdict', 'withdrawals'],
    onceTwo: true,
  });
  expect(read('none')).toEqual({ kinds: [], onceTwo: false });
  expect(read('withdrawals, reveal')).toEqual({ kinds: ['reveal', 'withdrawals'], onceTwo: false });
});

it('takes an empty variable for an absent one', () => {
  expect(readConfig({ DATABASE_URL: '', API_PORT: '', WEBHOOK_ALLOW_HTTP: '' })).toEqual(readConfig({}));
});

it('reads a value without the white space around it: a file of a Secret often ends with a line break', () => {
  const read = readConfig({
    REDIS_URL: 'redis://redis.example:6379\n',
    DATABASE_URL: ' postgres://db.example/catalogue\r\n',
    API_HOST: ' ::1 ',
    PICTURE_STORE: 'file:/var/lib/pictures ',
    CATALOGUE_HOME: '\t',
    LOG_LEVEL: 'warn ',
    WEBHOOK_ALLOW_HTTP: 'true\n',
  });
  expect(read).toMatchObject({
    redisUrl: 'redis://redis.example:6379',
    databaseUrl: 'postgres://db.example/catalogue',
    api: { host: '::1' },
    pictures: { store: { directory: '/var/lib/pictures' } },
    home: resolve('.catalogue'),
    logLevel: 'warn',
    webhooks: { allowHttp: true },
  });
});

it('refuses an address of OpenTelemetry to which nothing would be sent', () => {
  const { message } = rejection({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'grpc://collector:4317',
  });
  expect(message.match(/^ {2}- OTEL_EXPORTER_OTLP_(LOGS_)?ENDPOINT is not an address/gm)).toHaveLength(2);
});

it.each(['/console', '/?from=mail', '/#top'])(
  'refuses a site below %s: its links and its cookie would miss it',
  (path) => {
    const { message } = rejection({
      CONSOLE_URL: `https://console.example${path}`,
      KYC_DESK_URL: `https://desk.example:8443${path}`,
    });
    expect(message.match(/^ {2}- (CONSOLE|KYC_DESK)_URL has more than a scheme/gm)).toHaveLength(2);
    expect(readConfig({ CONSOLE_URL: 'https://console.example/' }).console.isPublic).toBe(true);
  },
);

it.each(['"', "'"])('refuses a value in quotes (%s), as docker run --env-file hands it over', (quote) => {
  const quoted = (text: string) => `${quote}${text}${quote}`;
  const { message } = rejection({
    CATALOGUE_HOME: quoted('/var/lib/catalogue'),
    API_HOST: quoted('0.0.0.0'),
    PAGER: quoted('less -S'),
  });
  const problem = 'is in quotes, which are a part of its value here: remove them';
  expect(message.split('\n').filter((line) => line.startsWith('  - '))).toEqual([
    `  - API_HOST ${problem}`,
    `  - CATALOGUE_HOME ${problem}`,
  ]);
});

it('reads a fleet', () => {
  const keys = `k2:${Buffer.alloc(32, 2).toString('base64')},k1:${Buffer.alloc(32, 1).toString('base64')}`;
  const config = readConfig({
    DATABASE_URL: 'postgresql://catalogue:secret@db.example/catalogue',
    REDIS_URL: 'rediss://:secret@redis.example:6380/2',
    QUEUE_PREFIX: 'games{a}',
    ENCRYPTION_KEYS: keys,
    CONSOLE_URL: 'https://console.example',
    OIDC_ISSUER: 'https://login.example',
    OIDC_CLIENT_ID: 'catalogue',
    OIDC_CLIENT_SECRET: 'secret',
    OIDC_ROLES: 'games=reviewer, games=viewer,team=a=admin',
    CONSOLE_TRUSTED_PROXIES: '10.0.0.2, 10.1.0.0/16,fd00::/8',
    PORTAL_CONTACT: 'games@platform.example',
    WEBHOOK_ALLOW_HTTP: '1',
    WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8, fd00::/8',
    AUDIT_TIME_ZONE: 'Asia/Shanghai',
  });
  expect(config).toMatchObject({
    databaseUrl: 'postgresql://catalogue:secret@db.example/catalogue',
    redisUrl: 'rediss://:secret@redis.example:6380/2',
    queuePrefix: 'games{a}',
    encryptionKeys: keys,
    console: {
      url: 'https://console.example',
      oidc: {
        issuer: 'https://login.example',
        clientId: 'catalogue',
        clientSecret: 'secret',
        rolesClaim: 'groups',
        roles: new Map([
          ['games', ['reviewer', 'viewer']],
          ['team=a', ['admin']],
        ]),
      },
      trustedProxies: ['10.0.0.2', '10.1.0.0/16', 'fd00::/8'],
      contact: 'mailto:games@platform.example',
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
    CONSOLE_PORT: 'eighty',
    CONSOLE_URL: 'console.example',
    OIDC_ISSUER: 'http://login.example',
    OIDC_ROLES: 'games=owner',
    METRICS_PORT: '-1',
    CONSOLE_TRUSTED_PROXIES: '10.2.0.0/16,proxy.example,0.0.0.0/0',
    PORTAL_CONTACT: 'javascript:alert(1)',
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
    OIDC_ISSUER: 'https://login.example',
    REDIS_URL: 'redis://h',
    ENCRYPTION_KEYS: 'bad',
  });
  expect(message.split('\n').filter((line) => line.startsWith('  - '))).toEqual([
    '  - ENCRYPTION_KEYS entry 1 is not ID:BASE64, as in k1:….',
    '  - API_PORT is not a port number',
    '  - OIDC_ISSUER set without OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_ROLES: sign-in by OIDC needs all of them',
    '  - OIDC_ISSUER needs CONSOLE_URL (and the KYC desk KYC_DESK_URL), the address to which the provider returns the browser',
    '  - REDIS_URL is set without DATABASE_URL: a fleet needs both, the embedded default neither',
  ]);
});

it.for<[what: string, env: Record<string, string>, named: string]>([
  [
    'an unknown kind of four eyes',
    { FOUR_EYES: 'reveal,cpid' },
    'FOUR_EYES has "cpid": give none, or some of',
  ],
  ['none beside a kind', { FOUR_EYES: 'none,reveal' }, 'FOUR_EYES has "none"'],
  ['a retention of less than a day', { KYC_KEEP_FORMER: '1h' }, 'KYC_KEEP_FORMER is not a duration'],
  [
    'a proxy that speaks no http, in words that name what it must be',
    { WEBHOOK_PROXY: 'socks5://proxy.example' },
    'WEBHOOK_PROXY is not an address with http:// or https://',
  ],
  ['Redis without a database', { REDIS_URL: 'redis://redis.example' }, 'DATABASE_URL'],
])('refuses %s', ([, env, named]) => {
  expect(rejection(env).message).toContain(named);
});

it('gives each process the URL of its role, and DATABASE_URL to the others', () => {
  const config = readConfig({
    DATABASE_URL: 'postgres://owner@db/c',
    DATABASE_URL_API: 'postgres://api@db/c',
  });
  expect(configFor(config, 'api').databaseUrl).toBe('postgres://api@db/c');
  expect(configFor(config, 'worker').databaseUrl).toBe('postgres://owner@db/c');
});
