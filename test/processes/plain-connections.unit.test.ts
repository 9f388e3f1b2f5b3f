import { expect, test } from 'vitest';
import { plainConnectionWarnings } from '#src/processes/plain-connections.ts';

const LOCAL = 'postgres://u:p@127.0.0.1/db';

test.each([
  [LOCAL, undefined],
  ['postgres://u:p@LOCALHOST:5432/db', 'redis://127.0.0.1:6379'],
  ['postgres://u:p@[::1]/db', 'redis://[::1]:6379'],
  ['postgres:///db?host=/var/run/postgresql', undefined],
  ['postgres://u:p@db.example/db?sslmode=verify-full', 'rediss://:p@redis.example'],
  [LOCAL, 'rediss+cluster://:p@a.example:1,b.example:2'],
])('no warning: %s, %s', (databaseUrl, redisUrl) => {
  expect(plainConnectionWarnings(databaseUrl, redisUrl)).toEqual([]);
});

test.each([
  ['postgres://u:hidden@db.example/db', undefined, ['DATABASE_URL']],
  ['postgres://u:hidden@10.1.2.300/db', undefined, ['DATABASE_URL']],
  ['postgres://u:hidden@10.1.2.3/db?sslmode=disable', undefined, ['DATABASE_URL']],
  [LOCAL, 'redis://:hidden@redis.example:6379', ['REDIS_URL']],
  [LOCAL, 'redis+sentinel://:hidden@a.example:1,b.example:2/main', ['REDIS_URL']],
  ['postgres://u:hidden@db/db', 'redis+cluster://:hidden@a:1,b:2', ['DATABASE_URL', 'REDIS_URL']],
])('a warning without the password: %s, %s', (databaseUrl, redisUrl, named) => {
  const warnings = plainConnectionWarnings(databaseUrl, redisUrl);
  expect(warnings.map((text) => text.split(' ', 1).join())).toEqual(named);
  expect(warnings.join()).not.toContain('hidden');
});
