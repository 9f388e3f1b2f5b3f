import { expect, onTestFinished, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { startTlsServer, trustCertificate } from '#test/support/self-signed.ts';
import { startTunnelProxy } from '#test/support/tunnel-proxy.ts';
import { aClient, envelope, errorOf, live, respondWith, TOKEN, targetAt } from '#test/support/webhooks.ts';

const LIST = { page_num: 1, page_size: 100 };

const through = (proxy: string, allowNetworks = ['127.0.0.0/8']) =>
  aClient({ egress: createEgressPolicy({ allowHttp: true, allowNetworks, proxy }) });

test('every call goes through a tunnel of the proxy, which gets its own password and resolves the name', async () => {
  const application = await respondWith(envelope({ total: 0, list: [] }));
  const { port } = new URL(application.url);
  const proxy = await startTunnelProxy();
  const client = through(`http://user:pass%20word@127.0.0.1:${proxy.port}`);
  // A name that only the proxy knows.
  const target = targetAt(`http://shop.internal.example:${port}/webhooks`);
  expect(await client.queryGameList(target, LIST, live())).toEqual({ total: 0, list: [] });
  expect(proxy.asked).toEqual([
    {
      target: `shop.internal.example:${port}`,
      authorization: `Basic ${Buffer.from('user:pass word').toString('base64')}`,
    },
  ]);
  expect(proxy.other).toEqual([]);
  expect(proxy.bytes()).toContain(`Bearer ${TOKEN}`);
  expect(proxy.bytes()).not.toMatch(/proxy-authorization/i);
});

test('with https the proxy sees neither token nor response', async () => {
  const application = await respondWith(envelope(null));
  const proxy = await startTunnelProxy();
  const client = through(`http://127.0.0.1:${proxy.port}`);
  const target = targetAt(`https://shop.example:${new URL(application.url).port}/`);
  // The application speaks no TLS: the first bytes in the tunnel are those of a handshake.
  expect((await errorOf(client.queryGameList(target, LIST, live()))).transport).toBe(true);
  expect(proxy.bytes()).not.toBe('');
  expect(proxy.bytes()).not.toContain(TOKEN);
});

test('a private address is refused before the proxy hears of it', async () => {
  const proxy = await startTunnelProxy();
  const client = through(`http://127.0.0.1:${proxy.port}`, []);
  const error = await errorOf(client.queryGameList(targetAt('http://169.254.169.254/'), LIST, live()));
  expect(error.code).toBe('forbidden_address');
  expect(proxy.asked).toEqual([]);
});

test.each([
  ['makes no tunnel', '502 Bad Gateway', 'connect_failed', 'the proxy made no connection (HTTP 502)'],
  [
    'refuses its password',
    '407 Proxy Authentication Required',
    'proxy_failed',
    'the proxy refuses its password (HTTP 407)',
  ],
])('a proxy that %s is named', async (_, answer, code, message) => {
  const proxy = await startTunnelProxy(answer);
  const client = through(`http://u:secret-of-proxy@127.0.0.1:${proxy.port}`);
  const error = await errorOf(client.queryGameList(targetAt('http://shop.example/'), LIST, live()));
  expect(error).toMatchObject({ code, message, retryable: true });
});

test('a proxy that is down is the platform’s fault, not the application’s', async () => {
  const client = through('http://127.0.0.1:1');
  const error = await errorOf(client.queryGameList(targetAt('http://shop.example/'), LIST, live()));
  expect(error).toMatchObject({
    code: 'proxy_failed',
    message: 'no connection to the proxy (ECONNREFUSED)',
    retryable: true,
  });
});

test('a proxy that does not answer CONNECT is a connection that failed, and no tunnel outlives the connect timeout', async () => {
  const proxy = await startRawTcpServer((socket) => socket.resume());
  onTestFinished(proxy.close);
  const client = aClient({
    egress: createEgressPolicy({ allowHttp: true, allowNetworks: [], proxy: proxy.url }),
    connectTimeoutMs: 100,
  });
  const error = await errorOf(client.queryGameList(targetAt('https://shop.example/'), LIST, live()));
  expect(error).toMatchObject({ code: 'connect_failed', retryable: true });
  await expect.poll(proxy.openConnections).toBe(0);
});

test.each([
  ['is for another name', 'wrong.example', true],
  ['is not trusted', 'shop.example', false],
])(
  'a certificate of the application that %s is tls_failed, also through a proxy',
  async (_, host, isTrusted) => {
    if (isTrusted) trustCertificate();
    const { port } = new URL(await startTlsServer(envelope(null)));
    const proxy = await startTunnelProxy();
    const client = through(`http://127.0.0.1:${proxy.port}`);
    const error = await errorOf(client.queryGameList(targetAt(`https://${host}:${port}/`), LIST, live()));
    expect(error.code).toBe('tls_failed');
  },
);

test('a certificate of the proxy that is not trusted is named', async () => {
  const { port } = new URL(await startTlsServer(envelope(null)));
  const client = through(`https://localhost:${port}`);
  const error = await errorOf(client.queryGameList(targetAt('https://shop.example/'), LIST, live()));
  expect(error).toMatchObject({
    code: 'proxy_failed',
    message: 'no connection to the proxy (DEPTH_ZERO_SELF_SIGNED_CERT)',
  });
});
