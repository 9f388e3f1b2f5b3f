import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { type ApiOptions, buildApi } from '#src/api/app.ts';
import { addToken, DETAIL, LIST, startApi, type TestApi } from '#test/api/support.ts';

let api: TestApi;
let token: string;
beforeAll(async () => {
  api = await startApi();
  token = (await addToken(api.sql, null)).token;
});
afterAll(() => api.close());

const JSON_TYPE = 'application/json; charset=utf-8';
const call = (path: string, init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) =>
  fetch(api.url + path, {
    method: 'POST',
    body: '{"audit_status":"pending"}',
    ...init,
    headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${token}`, ...init.headers },
  });

const expectFailure = async (response: Response, status: number, ret_code: number) => {
  const body = (await response.json()) as { ret_code: number; ret_msg: string; data: unknown };
  expect([response.status, body.ret_code]).toEqual([status, ret_code]);
  expect(response.headers.get('content-type')).toBe(JSON_TYPE);
  expect(Object.keys(body)).toEqual(['ret_code', 'ret_msg', 'data']);
  expect(body.data).toBeNull();
  expect(body.ret_msg).toMatch(/\S/);
  return body;
};

/** Send bytes. @returns the answer, up to the end of the connection */
const sendRaw = async (bytes: string): Promise<string> => {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.write(bytes, 'latin1');
  await closed;
  return answer;
};
const expectRawFailure = (answer: string, status: number, ret_code: number) => {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head.toLowerCase()).toContain('content-type: application/json; charset=utf-8');
  expect(JSON.parse(body)).toMatchObject({ ret_code, data: null });
};

describe('section 7: every failure is an envelope with the matching HTTP status (decision 4)', () => {
  test('an unknown path is 404', async () => {
    await expectFailure(await call('/open-api/game/list'), 404, 40401);
    await expectFailure(await call(`${LIST}/`), 404, 40401);
  });

  test('another method than POST is 405 and Allow names POST (section 4)', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await call(LIST, { method, body: null });
      expect(response.headers.get('allow')).toBe('POST');
      await expectFailure(response, 405, 40501);
    }
    const health = await call('/healthz');
    expect(health.headers.get('allow')).toBe('GET, HEAD');
    await expectFailure(health, 405, 40501);
  });

  test('a body that is not JSON is 400', async () => {
    for (const body of [
      '',
      '{',
      '{"audit_status":',
      'audit_status=pending',
      '\ufeff{"a":1}x',
      'undefined',
      "{'a':1}",
    ]) {
      await expectFailure(await call(LIST, { body }), 400, 40002);
    }
  });

  test('a body that is not UTF-8 is 400', async () => {
    const body = new Uint8Array([...Buffer.from('{"game_id":"'), 0xff, 0xfe, ...Buffer.from('"}')]);
    await expectFailure(await call(DETAIL, { body }), 400, 40002);
  });

  test('JSON that is not an object is 400', async () => {
    for (const body of ['null', '[]', '7', '"pending"', 'true']) {
      const { ret_msg } = await expectFailure(await call(LIST, { body }), 400, 40001);
      expect(ret_msg).toBe('The body must be a JSON object');
    }
  });

  test('another content type than JSON in UTF-8 is 415 (section 4)', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'application/json; charset=utf-16',
      '*',
    ]) {
      await expectFailure(await call(LIST, { headers: { 'content-type': type } }), 415, 41501);
    }
    for (const type of [
      'application/json',
      'application/json;charset=UTF-8',
      'Application/JSON; charset="utf-8"',
    ]) {
      expect((await call(LIST, { headers: { 'content-type': type } })).status).toBe(200);
    }
  });

  test('a body above 16 KiB is 413, with and without Content-Length', async () => {
    const large = JSON.stringify({ audit_status: 'pending', more: 'x'.repeat(16 * 1024) });
    await expectFailure(await call(LIST, { body: large }), 413, 41301);
    const stream = new Blob([large]).stream();
    await expectFailure(await call(LIST, { body: stream, duplex: 'half' }), 413, 41301);
    const fits = JSON.stringify({ audit_status: 'pending', more: 'x'.repeat(16_000) });
    expect((await call(LIST, { body: fits })).status).toBe(200);
  });

  test('bytes that are not HTTP are 400', async () => {
    for (const bytes of [
      'nonsense\r\n\r\n',
      'POST / HTTP/9.9\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n',
      'FLY / HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
    ]) {
      const answer = await sendRaw(bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      expectRawFailure(answer, 400, 40003);
    }
  });

  test('a path that does not decode is 400', async () => {
    await expectFailure(await call('/%ff%zz'), 400, 40003);
  });

  test('CONNECT is 405, an unknown expectation 417, headers that are too large 431', async () => {
    expectRawFailure(await sendRaw('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'), 405, 40501);
    expectRawFailure(await sendRaw('POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n'), 417, 41701);
    expectRawFailure(
      await sendRaw(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
      431,
      43101,
    );
  });

  test('the methods of RTSP, which Node parses too, are 405 with the allowed methods', async () => {
    const logged = api.logged.length;
    for (const method of ['DESCRIBE', 'ANNOUNCE', 'SETUP', 'PLAY', 'TEARDOWN', 'GET_PARAMETER', 'FLUSH']) {
      const answer = await sendRaw(`${method} ${LIST} RTSP/1.0\r\nHost: a\r\n\r\n`);
      expectRawFailure(answer, 405, 40501);
      expect(answer.toLowerCase()).toContain('allow: post');
      expectRawFailure(await sendRaw(`${method} /none RTSP/1.0\r\nHost: a\r\n\r\n`), 404, 40401);
    }
    expect(api.logged).toHaveLength(logged);
  });

  test('a caller that resets its connection after a CONNECT affects no other call', async () => {
    const { hostname, port } = new URL(api.url);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const socket = connect(Number(port), hostname).on('error', () => {});
      await once(socket, 'connect');
      socket.write(`CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat(1_000)}`);
      setImmediate(() => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    expect((await call(LIST)).status).toBe(200);
  });

  test('a body that does not arrive is 408', async () => {
    const head = `POST ${LIST} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${JSON_TYPE}`;
    expectRawFailure(await sendRaw(`${head}\r\nContent-Length: 50\r\n\r\n{`), 408, 40801);
    expect(api.logged.filter((line) => !line.includes('Server listening'))).toEqual([]);
  });

  test('an internal error is 500: the log has its reason, the envelope does not', async () => {
    await api.sql`alter table games rename column game_desc to renamed`;
    const { ret_msg } = await expectFailure(await call(DETAIL, { body: '{"game_id":"x"}' }), 500, 50001);
    await api.sql`alter table games rename column renamed to game_desc`;
    expect(ret_msg).toBe('An internal error of the platform; it has been logged.');
    expect(api.logged.at(-1)).toContain('game_desc');
    expect(api.logged.join()).not.toContain(token);
  });
});

describe('when the database or the queue is unreachable', () => {
  const standIn = async (ready: ApiOptions['ready'], databaseUrl = 'postgres://nobody@127.0.0.1:1/none') => {
    const sql = openDatabase(databaseUrl, { max: 1 });
    const app = await buildApi({
      sql,
      auditTimeZone: 'UTC',
      logger: pino({ level: 'silent' }),
      ready,
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return { url, close: () => Promise.all([app.close(), sql.end()]) };
  };

  test('a database that is down is 503 in the envelope', async () => {
    const { url, close } = await standIn(async () => {});
    const headers = { 'content-type': JSON_TYPE, authorization: `Bearer ${token}` };
    const response = await fetch(url + LIST, { method: 'POST', headers, body: '{"audit_status":"pending"}' });
    await expectFailure(response, 503, 50301);
    await close();
  });

  test('a database that hangs is 503 in the envelope, and its late answer is dropped', async () => {
    const locked = openDatabase(api.databaseUrl, { max: 1 });
    for (const table of ['api_tokens', 'games']) {
      await locked`begin`;
      await locked`lock table ${locked(table)} in access exclusive mode`;
      // A wrong body is not reported before the token is known.
      const calls = table === 'api_tokens' ? [call(LIST), call(LIST, { body: '{' })] : [call(LIST)];
      for (const response of await Promise.all(calls)) await expectFailure(response, 503, 50301);
      await locked`rollback`;
      expect((await call(LIST)).status).toBe(200);
    }
    await locked.end();
  });

  test.for<[what: string, path: string, table: string]>([
    ['looks a token up', LIST, 'api_tokens'],
    ['reads a page', LIST, 'games'],
    ['reads a detail', DETAIL, 'games'],
  ])(
    'when the database ends a session that %s, the call is 503 and the next one is served',
    async ([, path, table]) => {
      const body = path === DETAIL ? '{"game_id":"x"}' : '{"audit_status":"pending"}';
      const locked = openDatabase(api.databaseUrl, { max: 1 });
      await locked`begin`;
      await locked`lock table ${locked(table)} in access exclusive mode`;
      const pending = call(path, { body });
      for (;;) {
        // Not in the transaction: it sees the activity of its start.
        const ended = await api.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${table}%`}
          order by query_start limit 1`;
        if (ended.length > 0) break;
        await delay(5);
      }
      await locked`rollback`;
      await locked.end();
      await expectFailure(await pending, 503, 50301);
      expect((await call(path, { body })).status).toBe(200);
    },
  );

  test('a connection that is stuck delays no call on another connection', async () => {
    const own = await startApi();
    const operator = (await addToken(own.sql, null)).token;
    const locked = openDatabase(own.databaseUrl, { max: 1 });
    await locked`begin`;
    await locked`lock table games in access exclusive mode`;
    const stuck = fetch(own.url + DETAIL, {
      method: 'POST',
      body: '{"game_id":"x"}',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${operator}` },
    });
    for (let waiting = 0; waiting === 0; ) {
      const rows = await own.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      waiting = rows.length;
    }
    // The token is looked up, so that the answer shows that the database is read meanwhile.
    const refused = await fetch(own.url + LIST, {
      method: 'POST',
      body: '{"audit_status":"none"}',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${operator}` },
    });
    await expectFailure(refused, 400, 40001);
    await locked`rollback`;
    expect((await stuck).status).toBe(200);
    await locked.end();
    await own.close();
  });

  test('the API stops though the last use of a token cannot be written', async () => {
    const own = await startApi();
    const { token: unused } = await addToken(own.sql, null);
    const locked = await own.sql.reserve();
    await locked`begin`;
    await locked`set local idle_in_transaction_session_timeout = 0`;
    await locked`lock table api_tokens in share mode`;
    const answer = await fetch(own.url + LIST, {
      method: 'POST',
      body: '{"audit_status":"pending"}',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${unused}`, connection: 'close' },
    });
    expect(answer.status).toBe(200);
    // The table is still locked.
    await own.close();
  });

  test('/readyz is 503 until database and queue are reachable, /healthz is always 200', async () => {
    let unreachable = true;
    const { url, close } = await standIn(async (what) => {
      if (unreachable && what === 'all') throw new Error('the queue is unreachable');
    });
    await expectFailure(await fetch(`${url}/readyz`), 503, 50301);
    expect((await fetch(`${url}/readyz?only=database`)).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    unreachable = false;
    const ready = await fetch(`${url}/readyz`);
    expect(await ready.json()).toEqual({ ret_code: 0, ret_msg: 'success', data: null });
    await close();
  });
});
