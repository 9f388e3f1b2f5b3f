import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { DETAIL, expectFailure, JSON_TYPE, LIST, useApi } from '#test/support/api.ts';

const served = useApi();
const { call } = served;

/** Sends bytes. @returns the answer, up to the end of the connection */
const sendRaw = async (bytes: string): Promise<string> => {
  const { hostname, port } = new URL(served.api.url);
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

describe('section 7: every failure is an envelope with the matching HTTP status', () => {
  test('an unknown path is 404, and says where the operations are listed', async () => {
    const { ret_msg } = (await (await call('/open-api/game/listByAuditStatus')).json()) as {
      ret_msg: string;
    };
    expect(ret_msg).toContain('/docs');
    await expectFailure(await call('/open-api/game/list'), 404, 40401);
    await expectFailure(await call(`${LIST}/`), 404, 40401);
    expect(await (await call('/operator-api/run/list')).json()).toMatchObject({
      ret_code: 40401,
      ret_msg: 'This process does not serve the operator API.',
    });
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
      // Two hosts: a proxy and this server could read different ones (RFC 9112, section 3.2).
      'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
      'GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n',
      // Two lengths: a proxy and this server could end the request at different bytes.
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n',
    ]) {
      const answer = await sendRaw(bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      expectRawFailure(answer, 400, 40003);
    }
  });

  test('a path that does not decode is 400', async () => {
    await expectFailure(await call('/%ff%zz'), 400, 40003);
  });

  test('CONNECT is 405, an unknown expectation 417, headers that are too large 431', async () => {
    const connect = await sendRaw('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    expectRawFailure(connect, 405, 40501);
    expect(connect).toContain('\r\nAllow: GET, HEAD, POST\r\n');
    expectRawFailure(await sendRaw('POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n'), 417, 41701);
    expectRawFailure(
      await sendRaw(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
      431,
      43101,
    );
  });

  test('the methods of RTSP, which Node parses too, are 405 with the allowed methods', async () => {
    const logged = served.api.logged.length;
    for (const method of ['DESCRIBE', 'ANNOUNCE', 'SETUP', 'PLAY', 'TEARDOWN', 'GET_PARAMETER', 'FLUSH']) {
      const answer = await sendRaw(`${method} ${LIST} RTSP/1.0\r\nHost: a\r\n\r\n`);
      expectRawFailure(answer, 405, 40501);
      expect(answer.toLowerCase()).toContain('allow: post');
      expectRawFailure(await sendRaw(`${method} /none RTSP/1.0\r\nHost: a\r\n\r\n`), 404, 40401);
    }
    expect(served.api.logged).toHaveLength(logged);
  });

  test('a caller that resets its connection after a CONNECT affects no other call', async () => {
    const { hostname, port } = new URL(served.api.url);
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
    const head = `POST ${LIST} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${served.operatorToken}\r\nContent-Type: ${JSON_TYPE}`;
    expectRawFailure(await sendRaw(`${head}\r\nContent-Length: 50\r\n\r\n{`), 408, 40801);
    expect(served.api.logged.filter((line) => !line.includes('Server listening'))).toEqual([]);
  });

  test('an internal error is 500: the log has its reason, the envelope does not', async () => {
    await served.api.sql`alter table games rename column game_desc to renamed`;
    const { ret_msg } = await expectFailure(await call(DETAIL, { body: '{"game_id":"x"}' }), 500, 50001);
    await served.api.sql`alter table games rename column renamed to game_desc`;
    expect(ret_msg).toBe('An internal error of the platform; it has been logged.');
    expect(served.api.logged.at(-1)).toContain('game_desc');
    expect(served.api.logged.join()).not.toContain(served.operatorToken);
  });
});
