import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UsageError } from '#src/errors.ts';
import { parsePrefix, parseRedisUrl } from '#src/queue/redis-url.ts';

it.for<[url: string, target: ReturnType<typeof parseRedisUrl>]>([
  ['redis://redis.example', { kind: 'single', options: { host: 'redis.example', port: 6379, db: 0 } }],
  ['redis://redis.example:7000/3', { kind: 'single', options: { host: 'redis.example', port: 7000, db: 3 } }],
  ['redis://[::1]:7000', { kind: 'single', options: { host: '::1', port: 7000, db: 0 } }],
  ['redis://:s3cret@h', { kind: 'single', options: { password: 's3cret', host: 'h', port: 6379, db: 0 } }],
  [
    'rediss://ada:p%40ss%3Aword@h:6380',
    {
      kind: 'single',
      options: {
        username: 'ada',
        password: 'p@ss:word',
        tls: { servername: 'h' },
        host: 'h',
        port: 6380,
        db: 0,
      },
    },
  ],
  ['rediss://10.1.2.3:6380', { kind: 'single', options: { tls: {}, host: '10.1.2.3', port: 6380, db: 0 } }],
  [
    'redis+sentinel://:s3cret@a,b:26380/mymaster/2',
    {
      kind: 'sentinel',
      options: {
        password: 's3cret',
        name: 'mymaster',
        sentinels: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 26380 },
        ],
        db: 2,
      },
    },
  ],
  [
    'rediss+cluster://a:7000,[fd00::1]:7001',
    {
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'fd00::1', port: 7001 },
      ],
      options: { tls: {} },
    },
  ],
])('reads %s', ([url, target]) => {
  expect(parseRedisUrl(url)).toEqual(target);
});

it('encrypts the way to the sentinels too', () => {
  expect(parseRedisUrl('rediss+sentinel://a/mymaster')).toMatchObject({
    options: { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true },
  });
});

it.for([
  '',
  'redis.example:6379',
  'http://redis.example',
  'redis://',
  'redis://h/db',
  'redis://h/-1',
  'redis://h:70000',
  'redis://h:0',
  'redis://h:x',
  'redis://a,b',
  'redis+sentinel://a',
  'redis+cluster://a:1,,b:2',
  'redis://:%E0%A4%A@h',
])('refuses %s', (url) => {
  expect(() => parseRedisUrl(url)).toThrow(UsageError);
});

it('throws only UsageError for any text, and never shows the password', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('redis', 'rediss', 'redis+sentinel', 'redis+cluster'),
      fc.string(),
      (scheme, rest) => {
        try {
          parseRedisUrl(`${scheme}://user:hunter2-hunter2@${rest}`);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect((error as Error).message).not.toContain('hunter2');
        }
      },
    ),
  );
});

it.for(['catalogue', '{catalogue}', 'a-{b}_c', 'A1'])('takes %s for a queue prefix', (prefix) => {
  expect(parsePrefix(prefix)).toBe(prefix);
});

it.for(['', 'a:b', '{a}{b}', '{}', '{a', 'ä', 'a b', 'a*'])('refuses "%s" as a queue prefix', (prefix) => {
  expect(() => parsePrefix(prefix)).toThrow(UsageError);
});
