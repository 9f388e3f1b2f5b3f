import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findPresentedToken, listTokenPage, revokeToken } from '#db/queries/tokens.ts';
import { tokenRefused } from '#src/api/refusals.ts';
import { createApiToken } from '#src/identity/secrets.ts';
import { hashApiToken } from '#src/rules/api-token.ts';
import { type Answer, DETAIL, LIST, post, startApi, type TestApi, useTestApi } from '#test/support/api.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { removeApplication } from '#test/support/operate.ts';

const api = useTestApi();

const list = (token: string | null, on: TestApi = api) =>
  post(on.url, LIST, token, { audit_status: 'pending' });

describe('API tokens', () => {
  test('are stored as SHA-256 only', async () => {
    const { token, token_id } = await addToken(api.sql, null);
    const [row] =
      await api.sql`select t::text as text, token_hash from api_tokens t where token_id = ${token_id}`;
    expect(row?.text).not.toContain(token.slice(4, 20));
    expect(Buffer.from(row?.token_hash)).toEqual(hashApiToken(token));
    expect(
      JSON.stringify(await listTokenPage(api.sql, {}, { sort: 'name', descending: false, limit: 100 })),
    ).not.toContain('hash');
  });
});

describe('section 5: every request carries Authorization: Bearer <ACCESS_TOKEN>', () => {
  test('without a token the response is 401 with a challenge', async () => {
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
        // Not in the transaction: it sees the activity of its start.
        const blocked = async () => {
          const sessions = await api.sql`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
              and query like '%token_hash%'`;
          return sessions.length;
        };
        await expect.poll(blocked).toBeGreaterThan(0);
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
    await expect.poll(async () => (await version())?.last_used_at).toBeInstanceOf(Date);
    const first = await version();
    await Promise.all(Array.from({ length: 50 }, () => list(token)));
    expect(await version()).toEqual(first);
    const found = await findPresentedToken(api.sql, hashApiToken(token));
    expect(found?.recently_used).toBe(true);
  });
});

describe('a refused token', () => {
  test('is counted, and logged without itself, at most once a second and reason', async () => {
    const counted: string[] = [];
    onTestFinished(tokenRefused.subscribe((refusal) => counted.push(refusal)));
    const watched = await startApi();
    const unknown = createApiToken();
    const { token, token_id } = await addToken(watched.sql, null);
    await revokeToken(watched.sql, token_id);
    for (let calls = 0; calls < 20; calls += 1) await list(unknown, watched);
    await list(token, watched);
    await list(null, watched);
    await watched.close();
    expect(counted).toEqual([...Array(20).fill('unknownToken'), 'endedToken', 'noToken']);
    const lines = watched.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'token refused');
    const ofUnknown = lines.filter(({ refusal }) => refusal === 'unknownToken');
    expect(ofUnknown.length).toBeLessThan(20);
    expect(ofUnknown[0]).toMatchObject({ address: '127.0.0.1', skipped: 0 });
    expect(lines).toContainEqual(expect.objectContaining({ refusal: 'endedToken', token_id }));
    expect(watched.logged.join('')).not.toContain(unknown.slice(4, 20));
    expect(watched.logged.join('')).not.toContain(token.slice(4, 20));
  });

  test('beside a second Authorization header is 400: neither is chosen', async () => {
    const { token } = await addToken(api.sql, null);
    const { port } = new URL(api.url);
    const call = request({
      port,
      host: '127.0.0.1',
      path: LIST,
      method: 'POST',
      headers: [
        'host',
        'localhost',
        'content-type',
        'application/json',
        'authorization',
        `Bearer ${token}`,
        'authorization',
        'Bearer x',
      ],
    });
    call.end(JSON.stringify({ audit_status: 'pending' }));
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    expect([response.statusCode, await json(response)]).toEqual([
      400,
      {
        ret_code: 40003,
        ret_msg: 'The request has more than one Authorization header: send one.',
        data: null,
      },
    ]);
  });
});
