import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { startTunnelProxy } from '#test/support/tunnel-proxy.ts';
import { askDetail, detail, envelope, errorOf, loopback, meteredClient } from '#test/support/webhooks.ts';

const MIB = 1024 * 1024;

/** A server that sends `head`, and `piece` for as long as the client reads, up to this number of pieces. */
const floodWith = async (head: string, piece: string, pieces = Number.POSITIVE_INFINITY) => {
  let sent = 0;
  const server = await startRawTcpServer((socket: Socket) => {
    let left = pieces;
    const flood = (): void => {
      while (left > 0 && socket.writable) {
        left -= 1;
        sent += piece.length;
        if (!socket.write(piece)) return;
      }
    };
    socket.once('data', () => {
      socket.write(head);
      socket.on('drain', flood);
      flood();
    });
  });
  onTestFinished(server.close);
  return { ...server, sent: () => sent };
};

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const INTERIM = 'more than 16 interim (1xx) responses';
const FLOODS = {
  'extensions of chunks': [CHUNKED, `1;${'x'.repeat(60_000)}\r\n \r\n`, 'more than 8388608 bytes'],
  'interim responses': ['', `HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(8_000)}\r\n\r\n`, INTERIM],
  'interim responses without headers': ['', 'HTTP/1.1 102 Processing\r\n\r\n', INTERIM],
} as const;

const throughProxy = async () => {
  const { port } = await startTunnelProxy();
  const proxy = `http://127.0.0.1:${port}`;
  return createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'], proxy });
};

test.each(
  Object.entries(FLOODS).flatMap(
    ([what, flood]) =>
      [
        [what, 'directly', flood],
        [what, 'through a proxy', flood],
      ] as const,
  ),
)(
  'a response of %s without end, %s, is cut, its connection is closed, and the application pays for the bytes',
  async (_, way, [head, piece, problem]) => {
    const server = await floodWith(head, piece);
    const { client, costs } = meteredClient(way === 'directly' ? loopback : await throughProxy());
    const error = await errorOf(askDetail(client, server.url));
    expect(error).toMatchObject({ code: 'body_too_large', message: expect.stringContaining(problem) });
    await expect.poll(server.openConnections).toBe(0);
    // What the buffers of the connection hold besides was not read.
    expect(server.sent()).toBeLessThan(24 * MIB);
    expect(costs).toHaveLength(1);
    expect(costs[0]?.bytes).toBeGreaterThanOrEqual(8 * MIB);
  },
);

test('a body in pieces of one byte is charged for the work on each piece', async () => {
  const bytes = Buffer.from(envelope({ ...detail(), game_info: 'x'.repeat(60_000) }));
  const pieces = [...bytes].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
  const server = await floodWith(CHUNKED, `${pieces}0\r\n\r\n`, 1);
  const { client, costs } = meteredClient();
  expect(await askDetail(client, server.url)).toMatchObject({ game_id: 'g1' });
  expect(costs[0]?.ms).toBeGreaterThan(20);
});

test('large responses one after another over one connection are not cut', async () => {
  const { client } = meteredClient();
  const body = Buffer.from(envelope(detail()).padEnd(MIB, ' '));
  const server = await startRawTcpServer((socket: Socket) => {
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
  });
  onTestFinished(server.close);
  for (let call = 0; call < 12; call += 1) await askDetail(client, server.url);
  expect(server.connections()).toBe(1);
});
