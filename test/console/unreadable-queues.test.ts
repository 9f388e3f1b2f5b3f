import { expect, inject, test } from 'vitest';
import { readPictureDelay } from '#src/console/picture-delay.ts';
import { addTestOperator, signIn, startTestConsole } from '#test/support/console.ts';
import { startRedisWithUsers } from '#test/support/redis-users.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test.skipIf(inject('redisUrl') === null)(
  'pages say why queues cannot be read, and what to do: by a user of Redis with too few rights',
  async () => {
    await using redis = await startRedisWithUsers();
    await addTestOperator(database.sql, 'olga', 'reviewer');
    await using stack = new AsyncDisposableStack();
    const served = await startTestConsole(database, {
      prefix: '{catalogue}',
      redisUrl: redis.urlOf('kyc_desk'),
    });
    stack.defer(served.stop);
    const cookie = await signIn(served.url, 'olga');
    for (const path of ['/', '/queues']) {
      const page = await (await fetch(new URL(path, served.url), { headers: { cookie } })).text();
      expect(page).toContain('The queues cannot be read: Redis does not allow its user');
      expect(page).toContain('Grant the user of REDIS_URL what docker-compose.yml grants');
      expect(page).not.toContain('see who else writes');
    }
    const fault = expect.stringContaining('Redis does not allow its user');
    expect(await readPictureDelay(served.producer)).toEqual({ cause: 'queue_unreadable', fault });
  },
);
