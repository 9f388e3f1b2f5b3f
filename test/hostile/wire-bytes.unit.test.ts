import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { CERTIFICATE, KEY, trustCertificate } from '#test/support/self-signed.ts';
import { startTunnelProxy } from '#test/support/tunnel-proxy.ts';
import {
  askDetail,
  detail,
  envelope,
  errorOf,
  loopback,
  meteredClient,
  respondWith,
} from '#test/support/webhooks.ts';

const KIB = 1024;
const BODY = envelope(detail());

const lengthOf = (text: string): string => Buffer.byteLength(text).toString(16);
const chunked = (extension: string, trailers = ''): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${lengthOf(BODY)};${extension}\r\n${BODY}\r\n0\r\n${trailers}\r\n`;
const filler = (kib: number): string => 'x'.repeat(kib * KIB);
const hint = (kib: number): string => `HTTP/1.1 103 Early Hints\r\nlink: ${filler(kib)}\r\n\r\n`;

/** Small bodies in large responses. */
const RESPONSES = {
  'extensions of chunks': chunked(filler(200)),
  'interim responses': hint(12).repeat(8) + chunked('x'),
  'headers, trailers and extensions': chunked(filler(60), `x: ${filler(12)}\r\n`),
};

/** A server that sends these bytes for each request. */
const anApplication = async (response: string, then: (socket: Socket) => void = () => {}) => {
  const server = await startRawTcpServer((socket) => {
    socket.on('data', () => socket.write(response, () => then(socket)));
  });
  onTestFinished(server.close);
  return server;
};

test.each(Object.entries(RESPONSES))(
  'each call pays for all bytes of its own response, however small its body: %s',
  async (_, response) => {
    const server = await anApplication(response);
    const { client, costs } = meteredClient();
    for (let call = 0; call < 3; call += 1) expect(await askDetail(client, server.url)).toEqual(detail());
    expect(server.connections()).toBe(1);
    expect(costs.map(({ bytes }) => bytes)).toEqual([response.length, response.length, response.length]);
  },
);

const HEAD = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${filler(200)}\r\n{\r\n`;

test.each<[string, string, string, (socket: Socket) => void]>([
  ['a connection that breaks', 'connection_lost', HEAD, (socket) => socket.destroy()],
  ['no whole response', 'timeout', HEAD, () => {}],
  ['text that is not JSON', 'not_json', `${HEAD}0\r\n\r\n`, () => {}],
  ['a redirect', 'redirect', `${hint(12).repeat(8)}HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n`, () => {}],
])('a call that fails pays for the bytes that arrived: %s', async (_, code, response, then) => {
  const server = await anApplication(response, then);
  const { client, costs } = meteredClient(loopback, 1_000);
  expect((await errorOf(askDetail(client, server.url))).code).toBe(code);
  expect(costs.map(({ bytes }) => bytes)).toEqual([response.length]);
});

test('a compressed body of many bytes that is small when it is decompressed pays for the many', async () => {
  const body = Buffer.concat([gzipSync(BODY), ...Array.from({ length: 10_000 }, () => gzipSync(''))]);
  const server = await respondWith(body, { headers: { 'content-encoding': 'gzip' } });
  const { client, costs } = meteredClient();
  await askDetail(client, server.url);
  expect(costs[0]?.bytes).toBeGreaterThan(body.length);
});

test('behind a proxy an application pays for its own bytes, not for the tunnel', async () => {
  const response = chunked(filler(100));
  const server = await anApplication(response);
  const { port } = await startTunnelProxy(`200 OK\r\nx: ${filler(8)}`);
  const proxy = `http://127.0.0.1:${port}`;
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'], proxy });
  const { client, costs } = meteredClient(egress);
  for (let call = 0; call < 2; call += 1) await askDetail(client, server.url);
  expect(costs.map(({ bytes }) => bytes)).toEqual([response.length, response.length]);
});

test.each([
  ['directly', false],
  ['through a proxy', true],
])('over TLS the bytes after decryption are counted: %s', async (_, isProxied) => {
  trustCertificate();
  const response = chunked(filler(100));
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
    socket.on('error', () => {}).on('data', () => socket.write(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const options = { allowHttp: true, allowNetworks: ['127.0.0.0/8'] };
  const proxy = isProxied ? `http://127.0.0.1:${(await startTunnelProxy()).port}` : undefined;
  const { client, costs } = meteredClient(createEgressPolicy({ ...options, proxy }));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (let call = 0; call < 2; call += 1) await askDetail(client, url);
  expect(costs.map(({ bytes }) => bytes)).toEqual([response.length, response.length]);
});
