import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { describeFailure } from '#src/contract/failure-words.ts';
import { createEgressPolicy, type EgressOptions } from '#src/egress/egress.ts';
import type { CallErrorCode } from '#src/egress/errors.ts';
import type { HttpPostOptions } from '#src/egress/post.ts';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { startTlsServer, trustCertificate } from '#test/support/self-signed.ts';
import {
  aClient,
  aServer,
  askDetail,
  detail,
  envelope,
  errorOf,
  respondWith,
  TOKEN,
} from '#test/support/webhooks.ts';

const aTcpServer = async (onSocket: (socket: Socket) => void, scheme = 'http') => {
  const server = await startRawTcpServer(onSocket, scheme);
  onTestFinished(server.close);
  return server;
};

/** A client of plain http whose names are resolved like this. */
const resolvingBy = (resolve: EgressOptions['resolve'], options: Partial<HttpPostOptions> = {}) =>
  aClient({ egress: createEgressPolicy({ allowHttp: true, allowNetworks: [], resolve }), ...options });

/** Writes a piece every 20 ms until the connection closes. */
const drip = (socket: Socket, piece: string, first = ''): void => {
  socket.once('data', () => {
    socket.write(first);
    const timer = setInterval(() => socket.write(piece), 20);
    socket.on('close', () => clearInterval(timer));
  });
};

test('a closed port is connect_failed', async () => {
  const server = await aServer(() => {});
  await server.close();
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({
    code: 'connect_failed',
    reasons: [{ path: '', code: 'econnrefused' }],
    retryable: true,
    transport: true,
  });
});

test('a connection that is closed before a response is connect_failed', async () => {
  const server = await aTcpServer((socket) => socket.once('data', () => socket.destroy()));
  expect((await errorOf(askDetail(aClient(), server.url))).code).toBe('connect_failed');
});

test.each<[string, string, CallErrorCode]>([
  ['a name that does not exist', 'ENOTFOUND', 'name_not_found'],
  ['an unreachable name server', 'EAI_AGAIN', 'name_not_found'],
])('%s is name_not_found', async (_, code, expected) => {
  const client = resolvingBy((_host, _options, done) => done(Object.assign(new Error(code), { code }), []));
  expect((await errorOf(askDetail(client, 'http://shop.example/'))).code).toBe(expected);
});

test('a look-up without a response ends at the connect timeout', async () => {
  const client = resolvingBy(() => {}, { connectTimeoutMs: 100 });
  expect((await errorOf(askDetail(client, 'http://shop.example/'))).code).toBe('connect_failed');
});

test.each([
  ['with a length that was promised', 'content-length: 1000\r\n'],
  ['in chunks', 'transfer-encoding: chunked\r\n'],
])('a connection that breaks in the middle of a body %s is connection_lost', async (_, header) => {
  const server = await aTcpServer((socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n5\r\n{"ret\r\n`, () => socket.resetAndDestroy());
    });
  });
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({
    code: 'connection_lost',
    retryable: true,
  });
});

test('a body that ends politely before its promised length is connection_lost', async () => {
  const server = await aTcpServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"ret'));
  });
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({
    code: 'connection_lost',
    reasons: [{ path: '', code: 'incomplete' }],
  });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 'http_parser'],
  [
    'headers without end',
    `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(100)}`,
    'und_err_headers_overflow',
  ],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
    'und_err_res_content_length_mismatch',
  ],
])('a server that speaks %s is connection_lost, and its error names what broke', async (_, bytes, code) => {
  const server = await aTcpServer((socket) => socket.once('data', () => socket.write(bytes)));
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'connection_lost', reasons: [{ path: '', code }] });
});

test.each([
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  [
    '100 Continue after another interim response',
    'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
  ],
  ['101 Switching Protocols', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
])('an error names %s, which was not requested', async (_, bytes) => {
  const server = await aTcpServer((socket) => socket.once('data', () => socket.write(bytes)));
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'connection_lost', transport: true, retryable: true });
  expect(error.message).toMatch(/^the server sent 100 Continue, .* or 101 Switching Protocols/);
  expect(error.reasons).toEqual([{ path: '', code: 'unrequested_100_or_101' }]);
});

test('a connection that is closed in the middle of the headers is no 100 Continue', async () => {
  const server = await aTcpServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nx:')));
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({ transport: true, reasons: [] });
});

test.each<[string, (socket: Socket) => void]>([
  ['never responds', (socket) => socket.resume()],
  ['sends informational responses for ever', (socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
  ['trickles its headers', (socket) => drip(socket, 'x: y\r\n', 'HTTP/1.1 200 OK\r\n')],
  [
    'trickles its body',
    (socket) => drip(socket, '1\r\n \r\n', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
  ],
])('a server that %s ends at the deadline, and its connection is closed', async (_, onSocket) => {
  const server = await aTcpServer(onSocket);
  const client = aClient({ callTimeoutMs: 300 });
  expect(await errorOf(askDetail(client, server.url))).toMatchObject({ code: 'timeout', retryable: true });
  await expect.poll(server.openConnections).toBe(0);
});

test('the signal of the caller ends a call, before and after it starts', async () => {
  const server = await aServer(() => {});
  const client = aClient();
  const ended = await errorOf(askDetail(client, server.url, AbortSignal.abort()));
  expect(ended).toMatchObject({ code: 'aborted', retryable: true, transport: false });
  expect(server.connections()).toBe(0);

  const controller = new AbortController();
  const call = askDetail(client, server.url, controller.signal);
  await expect.poll(server.connections).toBe(1);
  controller.abort();
  expect((await errorOf(call)).code).toBe('aborted');
  await expect.poll(server.openConnections).toBe(0);
  expect((await errorOf(askDetail(client, server.url, AbortSignal.timeout(50)))).code).toBe('aborted');
});

test('an untrusted certificate is tls_failed, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  onTestFinished(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });
  const error = await errorOf(askDetail(aClient(), await startTlsServer(envelope(null))));
  const reasons = [{ path: '', code: 'depth_zero_self_signed_cert' }];
  expect(error).toMatchObject({ code: 'tls_failed', retryable: true, transport: true, reasons });
});

test('a response over TLS is read where its certificate is trusted', async () => {
  trustCertificate();
  expect(await askDetail(aClient(), await startTlsServer(envelope(null)))).toBeNull();
});

test('a server that does not speak TLS, or hangs up in its handshake, is tls_failed', async () => {
  const plain = await aTcpServer(
    (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    'https',
  );
  const { code: kind, reasons } = await errorOf(askDetail(aClient(), plain.url));
  expect(kind).toBe('tls_failed');
  expect(describeFailure({ operation: 'query_game_detail', kind, reasons })).toBe(
    'The TLS handshake failed, or the certificate is not valid (err_ssl_wrong_version_number).',
  );
  const rude = await aTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()), 'https');
  expect((await errorOf(askDetail(aClient(), rude.url))).code).toBe('tls_failed');
});

test('no error contains the access token or a query of the address, at any depth', async () => {
  const reset = await aTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const silent = await aServer(() => {});
  const echo = await aServer((request, response) => {
    response.writeHead(400, { 'x-echo': TOKEN });
    response.end(
      JSON.stringify({
        ret_code: 1,
        ret_msg: `wrong token: ${request.headers.authorization}`,
        data: TOKEN,
      }),
    );
  });
  const page = await respondWith(`<p>${TOKEN}</p>`, { status: 500 });
  const wrong = await respondWith(envelope({ ...detail(), game_icon: [TOKEN], [TOKEN]: 1 }));
  const garbled = await respondWith(`{"ret_code":0,"${TOKEN}`);
  const urls = [reset, silent, echo, page, wrong, garbled].map(({ url }) => `${url}/?secret=${TOKEN}`);
  urls.push(`http://10.0.0.1/?secret=${TOKEN}`, `http://${TOKEN}.invalid/`, `ftp://127.0.0.1/${TOKEN}`);
  urls.push(`http://user:${TOKEN}@127.0.0.1/`, await startTlsServer(envelope(null)));
  const client = aClient({ callTimeoutMs: 500 });
  for (const url of urls) {
    const error = await errorOf(askDetail(client, url));
    const everything =
      inspect(error, { depth: Infinity, showHidden: true, getters: true }) + JSON.stringify(error);
    expect(everything).not.toContain(TOKEN);
    expect(error.cause).toBeUndefined();
  }
});

test('a connection that the server closes between two calls is replaced', async () => {
  const body = envelope(detail());
  const server = await aTcpServer((socket) =>
    socket.once('data', () =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    ),
  );
  const client = aClient();
  for (let call = 0; call < 3; call += 1) {
    expect(await askDetail(client, server.url)).toEqual(detail());
    await expect.poll(server.openConnections).toBe(0);
  }
  expect(server.connections()).toBe(3);
});
