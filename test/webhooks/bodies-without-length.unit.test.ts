import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { aClient, askDetail, detail, envelope, errorOf } from '#test/support/webhooks.ts';

const BODY = Buffer.from(envelope({ ...detail(), game_name: 'Café' }));
const GZIP = 'content-encoding: gzip\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n';
/** Ends in the middle of the two bytes of é. */
const IN_A_LETTER = BODY.subarray(0, BODY.indexOf('é') + 1);

const ENDINGS: Record<string, (socket: Socket) => void> = {
  'is closed': (socket) => socket.end(),
  'is reset': (socket) => socket.resetAndDestroy(),
};

/** A server that sends these bytes once the request is there, and then ends the connection. */
const anApplication = async (head: string, body: Buffer, end: (socket: Socket) => void) => {
  const server = await startRawTcpServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n`), body]), () => end(socket));
    });
  });
  onTestFinished(server.close);
  return server;
};

/** Each case with each ending. */
const inEachWay = <Rest extends readonly unknown[]>(cases: readonly [what: string, ...Rest][]) =>
  cases.flatMap(([what, ...rest]) =>
    Object.entries(ENDINGS).map(([how, end]) => [how, what, end, ...rest] as const),
  );

test.each(
  inEachWay<[code: string, head: string, body: Buffer]>([
    ['JSON', 'not_json', '', BODY.subarray(0, 60)],
    ['nothing at all', 'not_json', '', Buffer.alloc(0)],
    ['a letter', 'not_utf8', '', IN_A_LETTER],
    ['gzip', 'not_decodable', GZIP, gzipSync(BODY).subarray(0, 60)],
    ['gzip before its checksum', 'not_decodable', GZIP, gzipSync(BODY).subarray(0, -8)],
    ['chunks under another coding', 'not_json', 'transfer-encoding: chunked, x\r\n', BODY.subarray(0, 60)],
  ]),
)(
  'a connection that %s in a body without a length, in the middle of %s, is retried',
  async (_, __, end, code, head, body) => {
    const server = await anApplication(head, body, end);
    const error = await errorOf(askDetail(aClient(), server.url));
    expect(error).toMatchObject({ code, retryable: true, transport: false });
    expect(error.message).toMatch(/it named no length, so its body may have been cut$/);
    expect(error.reasons).toEqual([{ path: '', code: 'without_length' }]);
  },
);

test.each(
  inEachWay<[head: string]>([
    ['a body with a length', 'content-length: 1000\r\n'],
    ['a body with a length, after "connection: close"', 'content-length: 1000\r\nconnection: close\r\n'],
    ['a body in chunks', CHUNKED],
    ['a body in chunks, after "connection: close"', `${CHUNKED}connection: close\r\n`],
  ]),
)('a connection that %s in %s is lost', async (_, __, end, head) => {
  const server = await anApplication(head, Buffer.from('5\r\n{"ret\r\n'), end);
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'connection_lost', retryable: true });
});

test('a whole body without a length is read', async () => {
  const server = await anApplication('', BODY, (socket) => socket.end());
  expect(await askDetail(aClient(), server.url)).toMatchObject({ game_name: 'Café' });
});

test.each([
  ['JSON with a length', 'content-length: 1\r\n', Buffer.from('{'), 'not_json'],
  ['JSON in chunks', CHUNKED, Buffer.from('1\r\n{\r\n0\r\n\r\n'), 'not_json'],
  ['gzip with a length', `${GZIP}content-length: 1\r\n`, Buffer.from('{'), 'not_decodable'],
  ['a coding that was not requested', 'content-encoding: zstd\r\n', BODY, 'not_decodable'],
])('a body that cannot be read and was not cut is not retried: %s', async (_, head, body, code) => {
  const server = await anApplication(head, body, (socket) => socket.end());
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({ code, retryable: false });
});
