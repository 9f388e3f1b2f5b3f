import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { CERTIFICATE, KEY, trustCertificate } from '#test/support/self-signed.ts';
import { startTicketServer } from '#test/support/ticket-server.ts';
import { startTunnelProxy } from '#test/support/tunnel-proxy.ts';
import { aClient, askDetail, errorOf, loopback, meteredClient } from '#test/support/webhooks.ts';

test('a server that sends too many session tickets is cut, and its application pays for the most that it can have sent', async () => {
  trustCertificate();
  const url = await startTicketServer();
  const { client, costs } = meteredClient();
  const error = await errorOf(askDetail(client, url));
  expect(error).toMatchObject({
    code: 'body_too_large',
    message: 'more than 16 TLS session tickets came with it',
  });
  expect(costs).toMatchObject([{ bytes: 8 * 1024 * 1024 }]);
});

test.each(['directly', 'through a proxy'])(
  'an application pays for each handshake that fails, %s: its certificates can take 0.3 s of a turn',
  async (way) => {
    const proxy = way === 'directly' ? undefined : `http://127.0.0.1:${(await startTunnelProxy()).port}`;
    const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'], proxy });
    const presented = createServer({ cert: CERTIFICATE, key: KEY });
    const silent = createTcpServer((socket) => void socket.on('error', () => {}));
    for (const [server, code] of [
      [presented, 'tls_failed'],
      [silent, 'connect_failed'],
    ] as const) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const { client, costs } = meteredClient(egress, undefined, 200);
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect((await errorOf(askDetail(client, url))).code).toBe(code);
      expect(costs).toEqual([{ bytes: 0, ms: 300 }]);
    }
  },
);

test('a connection that is not made costs nothing, also where the proxy refuses it', async () => {
  const proxy = `http://127.0.0.1:${(await startTunnelProxy('502 Bad Gateway')).port}`;
  for (const egress of [loopback, createEgressPolicy({ allowHttp: true, allowNetworks: [], proxy })]) {
    const { client, costs } = meteredClient(egress);
    const url = egress === loopback ? 'https://127.0.0.1:1' : 'https://shop.example';
    expect((await errorOf(askDetail(client, url))).code).toBe('connect_failed');
    expect(costs).toEqual([{ bytes: 0, ms: 0 }]);
  }
});

test('a server cannot renegotiate', async () => {
  trustCertificate();
  const refused = Promise.withResolvers<NodeJS.ErrnoException>();
  const renegotiations: (Error | null)[] = [];
  const server = createServer({ cert: CERTIFICATE, key: KEY, maxVersion: 'TLSv1.2' }, (socket: TLSSocket) => {
    socket.on('error', refused.resolve);
    socket.once('data', () => socket.renegotiate({}, (error) => renegotiations.push(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ended = new AbortController();
  const call = errorOf(askDetail(aClient(), url, ended.signal));
  expect((await refused.promise).code).toBe('ERR_SSL_NO_RENEGOTIATION');
  ended.abort();
  await call;
  expect(renegotiations).toEqual([]);
});
