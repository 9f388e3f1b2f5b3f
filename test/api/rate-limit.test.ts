import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { describe, expect, inject, test } from 'vitest';
import { LIST, post, startApi, type TestApi } from '#test/support/api.ts';
import { addToken } from '#test/support/factories.ts';
import { startRedisWithUsers } from '#test/support/redis-users.ts';
import { until } from '#test/support/until.ts';

const list = (token: string, on: TestApi) => post(on.url, LIST, token, { audit_status: 'pending' });

describe('the rate limit', () => {
  test('applies to the process while Redis is connected and does not answer', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    // Without the ready check, the client counts as ready once it is connected.
    const redis = new Redis(port, '127.0.0.1', {
      enableReadyCheck: false,
      protocol: 2,
      disableClientInfo: true,
    });
    redis.on('error', () => {});
    const limited = await startApi({ rateLimit: { max: 4, timeWindowMs: 60_000 }, redis });
    const { token } = await addToken(limited.sql, null);
    for (let calls = 0; calls < 3; calls += 1) expect((await list(token, limited)).status).toBe(200);
    redis.disconnect();
    expect((await list(token, limited)).status).toBe(200);
    const { status, headers, body } = await list(token, limited);
    expect([status, body.ret_code]).toEqual([429, 42901]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await list((await addToken(limited.sql, null)).token, limited)).status).toBe(200);
    await limited.close();
    silent.close();
  });

  test('counts by token: 429 with Retry-After beyond it, while another token is served', async () => {
    const limited = await startApi({ rateLimit: { max: 3, timeWindowMs: 60_000 } });
    const [one, other] = [await addToken(limited.sql, null), await addToken(limited.sql, null)];
    for (let i = 0; i < 3; i += 1) expect((await list(one.token, limited)).status).toBe(200);
    const { status, headers, body } = await list(one.token, limited);
    expect([status, body.ret_code, body.data]).toEqual([429, 42901, null]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await list(other.token, limited)).status).toBe(200);
    for (let i = 0; i < 20; i += 1) await list(one.token, limited);
    const lines = limited.logged.map((line) => JSON.parse(line)).filter(({ status }) => status === 429);
    expect(lines[0]).toMatchObject({ failure: 'tooManyRequests', token_id: one.token_id });
    expect(lines.length).toBeLessThan(21);
    expect(limited.logged.join('')).not.toContain(one.token);
    await limited.close();
  });

  test.skipIf(inject('redisUrl') === null)(
    'a counter in Redis that somebody set without an expiry refuses a token until its window ends, and no longer',
    async () => {
      const redis = new Redis(inject('redisUrl') ?? '');
      redis.on('error', () => {});
      const limited = await startApi({ rateLimit: { max: 3, timeWindowMs: 60_000 }, redis });
      const { token, token_id } = await addToken(limited.sql, null);
      const key = `catalogue-api-rate:${token_id}`;
      await redis.set(key, 1e9);
      // The process counts the call, and gives the counter an expiry.
      expect((await list(token, limited)).status).toBe(200);
      await until('the counter expires', async () => (await redis.pttl(key)) > 0);
      expect(await redis.pttl(key)).toBeLessThanOrEqual(60_000);
      redis.disconnect();
      await limited.close();
    },
  );

  test.skipIf(inject('redisUrl') === null)(
    'a counter in Redis that somebody made a text, a list, a negative or the largest number is counted from the start',
    async () => {
      await using redis = await startRedisWithUsers();
      const client = new Redis(redis.urlOf('api'));
      client.on('error', () => {});
      const limited = await startApi({ rateLimit: { max: 2, timeWindowMs: 60_000 }, redis: client });
      const read = async (key: string) =>
        (await redis.admin.type(key)) === 'string' ? redis.admin.get(key) : '';
      for (const forge of [
        (key: string) => redis.admin.set(key, 'text'),
        (key: string) => redis.admin.rpush(key, 'list'),
        (key: string) => redis.admin.set(key, '9223372036854775807'),
        (key: string) => redis.admin.set(key, '-9223372036854775807', 'PX', 30_000),
      ]) {
        const { token, token_id } = await addToken(limited.sql, null);
        const key = `catalogue-api-rate:${token_id}`;
        await forge(key);
        expect((await list(token, limited)).status).toBe(200);
        await until(`${key} is counted from the start`, async () => (await read(key)) === '1', 20_000);
        expect(await redis.admin.pttl(key)).toBeGreaterThan(0);
        for (const expected of [200, 429]) expect((await list(token, limited)).status).toBe(expected);
      }
      client.disconnect();
      await limited.close();
    },
  );

  test.skipIf(inject('redisUrl') === null)(
    'is shared by the whole fleet over Redis, and applies to each process while Redis is unreachable',
    async () => {
      const redis = [new Redis(inject('redisUrl') ?? ''), new Redis(inject('redisUrl') ?? '')] as const;
      for (const client of redis) client.on('error', () => {});
      const rateLimit = { max: 2, timeWindowMs: 60_000 };
      const first = await startApi({ rateLimit, redis: redis[0] });
      const second = await startApi({ rateLimit, redis: redis[1], sql: first.sql });
      const { token } = await addToken(first.sql, null);
      expect((await list(token, first)).status).toBe(200);
      expect((await list(token, second)).status).toBe(200);
      expect((await list(token, first)).status).toBe(429);
      expect((await list(token, second)).status).toBe(429);
      for (const client of redis) client.disconnect();
      for (const expected of [200, 200, 429]) expect((await list(token, first)).status).toBe(expected);
      expect((await list(token, second)).status).toBe(200);
      await second.close();
      await first.close();
    },
  );
});
