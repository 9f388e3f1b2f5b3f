import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { removeApplication } from '#db/queries/applications.ts';
import { findPresentedToken, listTokens, revokeToken } from '#db/queries/tokens.ts';
import { createApiToken, hashApiToken, isApiToken } from '#src/api/api-token.ts';
import {
  type Answer,
  addApplication,
  addToken,
  DETAIL,
  LIST,
  post,
  startApi,
  type TestApi,
} from '#test/api/support.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const list = (token: string | null, on: TestApi = api) =>
  post(on.url, LIST, token, { audit_status: 'pending' });

describe('API tokens', () => {
  test('have a prefix, 256 random bits and a checksum that detects typing errors', () => {
    const tokens = Array.from({ length: 200 }, createApiToken);
    expect(new Set(tokens).size).toBe(200);
    for (const token of tokens) {
      expect(token).toMatch(/^gct_[A-Za-z0-9_-]{49}$/);
      expect(isApiToken(token)).toBe(true);
      for (let at = 4; at < 47; at += 7) {
        const mistyped = token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);
        expect(isApiToken(mistyped)).toBe(false);
      }
      expect(isApiToken(token.slice(0, -1))).toBe(false);
    }
  });

  test('are stored as SHA-256 only', async () => {
    const { token, token_id } = await addToken(api.sql, null);
    const [row] =
      await api.sql`select t::text as text, token_hash from api_tokens t where token_id = ${token_id}`;
    expect(row?.text).not.toContain(token.slice(4, 20));
    expect(Buffer.from(row?.token_hash)).toEqual(hashApiToken(token));
    expect(JSON.stringify(await listTokens(api.sql))).not.toContain('hash');
  });
});

describe('section 5: every request carries Authorization: Bearer <ACCESS_TOKEN>', () => {
  test('without a token the answer is 401 with a challenge', async () => {
    const { status, headers, body } = await list(null);
    expect([status, body.ret_code]).toEqual([401, 40101]);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="game-catalogue"');
  });

  test('with another scheme too, and the scheme may be written in any case', async () => {
    const { token } = await addToken(api.sql, null);
    const call = (authorization: string) =>
      fetch(api.url + LIST, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"audit_status":"pending"}',
      });
    for (const authorization of [`Basic ${token}`, token, 'Bearer', 'Bearer  ', `Bearer ${token} ${token}`]) {
      expect((await call(authorization)).status).toBe(401);
    }
    expect((await call(`bearer ${token}`)).status).toBe(200);
  });

  test('an unknown token is 401, whether or not it is well-formed', async () => {
    for (const token of ['nonsense', createApiToken(), 'x'.repeat(5_000)]) {
      const { status, headers, body } = await list(token);
      expect([status, body.ret_code]).toEqual([401, 40102]);
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
  });

  test('a revoked token is refused from the next call on', async () => {
    const { token, token_id } = await addToken(api.sql, null);
    expect((await list(token)).status).toBe(200);
    expect(await revokeToken(api.sql, token_id)).toBe(true);
    const { status, body } = await list(token);
    expect([status, body.ret_code]).toEqual([401, 40103]);
  });

  describe('a revoked token that was valid before is refused before any other error', () => {
    const calls: [what: string, path: string, body: unknown, contentType?: string][] = [
      ['a list', LIST, { audit_status: 'pending' }],
      ['a detail', DETAIL, { game_id: 'g' }],
      ['a wrong field', LIST, { audit_status: 'no such' }],
      ['a body that is not JSON', LIST, '{'],
      ['a body that is too large', LIST, ' '.repeat(20_000)],
      ['another content type', LIST, 'x', 'text/plain'],
    ];
    test.for(calls)('on a call with %s', async ([, path, body, contentType = 'application/json']) => {
      const { token, token_id } = await addToken(api.sql, null);
      expect((await list(token)).status).toBe(200);
      await revokeToken(api.sql, token_id);
      const response = await fetch(api.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      expect([response.status, await response.json()]).toMatchObject([401, { ret_code: 40103, data: null }]);
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    test('on a call beyond the rate limit', async () => {
      const limited = await startApi({ rateLimit: { max: 1, timeWindowMs: 60_000 } });
      const { token, token_id } = await addToken(limited.sql, null);
      expect((await list(token, limited)).status).toBe(200);
      expect((await list(token, limited)).status).toBe(429);
      await revokeToken(limited.sql, token_id);
      expect((await list(token, limited)).status).toBe(401);
      await limited.close();
    });

    test('on a call that waits for the lookup of its token', async () => {
      const { token, token_id } = await addToken(api.sql, null);
      expect((await list(token)).status).toBe(200);
      const answers: Promise<Answer>[] = [];
      let answered = 0;
      await api.sql.begin(async (tx) => {
        await tx`lock table api_tokens in access exclusive mode`;
        await revokeToken(tx, token_id);
        for (const body of [{ audit_status: 'pending' }, { audit_status: 'no such' }]) {
          const answer = post(api.url, LIST, token, body);
          answer.then(() => {
            answered += 1;
          });
          answers.push(answer);
        }
        await vi.waitFor(async () => {
          // Not in the transaction: it sees the activity of its start.
          const blocked = await api.sql`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
              and query like '%token_hash%'`;
          expect(blocked.length).toBeGreaterThan(0);
        });
        expect(answered).toBe(0);
      });
      for (const { status, body } of await Promise.all(answers))
        expect([status, body.ret_code, body.data]).toEqual([401, 40103, null]);
    });
  });

  test('an expired token is refused, and so is a token of a removed application', async () => {
    const past = await addToken(api.sql, null, new Date(Date.now() - 1));
    expect((await list(past.token)).body.ret_code).toBe(40103);
    const future = await addToken(api.sql, null, new Date(Date.now() + 60_000));
    expect((await list(future.token)).status).toBe(200);

    await addApplication(api.sql, 'gone');
    const { token } = await addToken(api.sql, 'gone');
    expect((await list(token)).status).toBe(200);
    await removeApplication(api.sql, 'gone');
    expect((await list(token)).body.ret_code).toBe(40103);
  });

  test('the token is checked before the body', async () => {
    const { status } = await post(api.url, LIST, null, 'not json');
    expect(status).toBe(401);
  });

  test('last use is recorded once for many calls', async () => {
    const { token, token_id } = await addToken(api.sql, null);
    await Promise.all(Array.from({ length: 50 }, () => list(token)));
    const version = async () =>
      (
        await api.sql`select last_used_at, xmin::text as version from api_tokens where token_id = ${token_id}`
      )[0];
    await vi.waitFor(async () => expect((await version())?.last_used_at).toBeInstanceOf(Date));
    const first = await version();
    await Promise.all(Array.from({ length: 50 }, () => list(token)));
    expect(await version()).toEqual(first);
    const found = await findPresentedToken(api.sql, hashApiToken(token));
    expect(found?.recently_used).toBe(true);
  });
});

describe('the rate limit', () => {
  test('does not limit calls while Redis is connected and does not answer', async () => {
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
    const limited = await startApi({ rateLimit: { max: 1, timeWindowMs: 60_000 }, redis });
    const { token } = await addToken(limited.sql, null);
    for (let calls = 0; calls < 3; calls += 1) expect((await list(token, limited)).status).toBe(200);
    redis.disconnect();
    expect((await list(token, limited)).status).toBe(200);
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
    await limited.close();
  });

  test.skipIf(inject('redisUrl') === null)(
    'is shared by the whole fleet over Redis, and does not apply while Redis is unreachable',
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
      expect((await list(token, first)).status).toBe(200);
      await second.close();
      await first.close();
    },
  );
});
