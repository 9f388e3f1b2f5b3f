import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createPictureAgent, fetchPicture } from '#src/pictures/fetch-picture.ts';
import { startTunnelProxy } from '#test/support/tunnel-proxy.ts';

/** A proxy that answers every plain request with bytes, and opens tunnels to a port of this machine. */
const startProxy = async (tunnelPort: number) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'image/png' }).end('bytes');
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const upstream = connect(tunnelPort, '127.0.0.1').on('error', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

test('with WEBHOOK_PROXY pictures are fetched through the proxy, which resolves the names', async () => {
  const proxy = await startProxy(1);
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: [], proxy: proxy.url });
  const agent = createPictureAgent(egress);
  onTestFinished(agent.close);
  const fetch = (url: string) =>
    fetchPicture({ url, etag: null }, { egress, agent, maxBytes: 100 }, new AbortController().signal);
  expect(await fetch('http://pictures.internal.example/a.png')).toMatchObject({ kind: 'bytes' });
  expect(await fetch('https://pictures.internal.example/b.png')).toMatchObject({ kind: 'failed' });
  expect(await fetch('http://10.0.0.1/c.png')).toMatchObject({ outcome: 'forbidden_address' });
  expect(proxy.asked).toEqual([
    'GET http://pictures.internal.example/a.png',
    'CONNECT pictures.internal.example:443',
  ]);
});

test('a proxy that makes no tunnel is no fault of the certificate of a host of pictures', async () => {
  const { port } = await startTunnelProxy('407 Proxy Authentication Required');
  const egress = createEgressPolicy({
    allowHttp: false,
    allowNetworks: [],
    proxy: `http://127.0.0.1:${port}`,
  });
  const agent = createPictureAgent(egress);
  onTestFinished(agent.close);
  const { signal } = new AbortController();
  const asked = { url: 'https://pictures.example/a.png', etag: null };
  const answer = await fetchPicture(asked, { egress, agent, maxBytes: 100 }, signal);
  expect(answer).toMatchObject({ kind: 'failed', outcome: 'connect_failed' });
});
