import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createPictureAgent, fetchPicture } from '#src/pictures/fetch-picture.ts';
import { aPicture } from '#test/support/pictures.ts';
import { CERTIFICATE, KEY, trustCertificate } from '#test/support/self-signed.ts';
import { startTicketServer } from '#test/support/ticket-server.ts';

const KIB = 1024;
const MAX_BYTES = 1024 * KIB;
/** Far longer than each of these attacks needs. A bound that does not act lets its test time out. */
const REQUEST_MS = 60_000;

const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });

const fetch = (url: string, etag: string | null = null) => {
  const agent = createPictureAgent(egress);
  onTestFinished(agent.close);
  const options = { egress, agent, maxBytes: MAX_BYTES, requestMs: REQUEST_MS };
  return fetchPicture({ url, etag }, options, new AbortController().signal);
};

const portOf = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
};

/** Sends these pieces for each request, and repeats the last one without end if `isEndless`. */
const startServer = async (pieces: readonly string[], isEndless = false) => {
  let sent = 0;
  const server = createTcpServer((socket) => {
    const repeat = (text: string): void => {
      while (socket.writable && socket.write(text)) sent += text.length;
      if (socket.writable) socket.once('drain', () => setImmediate(repeat, text));
    };
    socket
      .on('error', () => {})
      .once('data', () => {
        for (const piece of pieces) socket.write(piece);
        if (isEndless) repeat(pieces.at(-1) ?? '');
      });
  });
  return { url: `http://127.0.0.1:${await portOf(server)}/a.png`, sent: () => sent };
};

const filler = (kib: number): string => 'x'.repeat(kib * KIB);
const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ntransfer-encoding: chunked\r\n\r\n';

test.each([
  ['interim responses', [`HTTP/1.1 103 Early Hints\r\nlink: ${filler(8)}\r\n\r\n`]],
  ['small interim responses', ['HTTP/1.1 102 Processing\r\n\r\n']],
  ['extensions of chunks', [CHUNKED, `1;${filler(12)}\r\n{\r\n`]],
  ['chunks of one byte', [CHUNKED, '1\r\n{\r\n']],
])('%s without end are cut long before the deadline', async (_, pieces) => {
  const server = await startServer(pieces, true);
  expect(await fetch(server.url)).toMatchObject({ kind: 'failed', outcome: 'connection_lost' });
  // What the kernel buffers on both sides is sent too.
  expect(server.sent()).toBeLessThan(20_000 * KIB);
});

test('sixteen session tickets are accepted, more are not', async () => {
  trustCertificate();
  expect(await fetch(`${await startTicketServer()}/a.png`)).toMatchObject({ outcome: 'connection_lost' });
});

test('a server cannot renegotiate', async () => {
  trustCertificate();
  const refused = Promise.withResolvers<NodeJS.ErrnoException>();
  const server = createTlsServer(
    { cert: CERTIFICATE, key: KEY, maxVersion: 'TLSv1.2' },
    (socket: TLSSocket) => {
      socket.on('error', refused.resolve);
      socket.once('data', () => socket.renegotiate({}, () => socket.destroy()));
    },
  );
  const answer = fetch(`https://127.0.0.1:${await portOf(server)}/a.png`);
  expect((await refused.promise).code).toBe('ERR_SSL_NO_RENEGOTIATION');
  expect(await answer).toMatchObject({ kind: 'failed' });
});

test('the next request on a connection is not charged for the one before', async () => {
  const body = filler(600);
  const response = `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  let connections = 0;
  const server = createTcpServer((socket: Socket) => {
    connections += 1;
    socket.on('error', () => {}).on('data', () => socket.write(response));
  });
  const url = `http://127.0.0.1:${await portOf(server)}/a.png`;
  const agent = createPictureAgent(egress);
  onTestFinished(agent.close);
  const options = { egress, agent, maxBytes: MAX_BYTES, requestMs: REQUEST_MS };
  for (let request = 0; request < 5; request += 1)
    expect(await fetchPicture({ url, etag: null }, options, new AbortController().signal)).toMatchObject({
      kind: 'bytes',
    });
  expect(connections).toBe(1);
});

test.each([
  ['no name', 'http://no-such-name.invalid/a.png', 'name_not_found'],
  ['a private address', 'http://10.0.0.1/a.png', 'forbidden_address'],
  ['nobody listens', 'http://127.0.0.1:1/a.png', 'connect_failed'],
])('%s has the code that a webhook would have', async (_, url, outcome) => {
  expect(await fetch(url)).toMatchObject({ kind: 'failed', outcome });
});

test('a certificate that nobody trusts, and a server that speaks no TLS', async () => {
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, () => {});
  expect(await fetch(`https://127.0.0.1:${await portOf(server)}/a.png`)).toMatchObject({
    outcome: 'tls_failed',
  });
  const plain = await startServer(['HTTP/1.1 200 OK\r\n\r\n']);
  expect(await fetch(plain.url.replace('http:', 'https:'))).toMatchObject({ outcome: 'tls_failed' });
});

test.each([
  ['what is not HTTP', ['nonsense\r\n\r\n']],
  ['headers over 16 KiB', [`HTTP/1.1 200 OK\r\nx: ${filler(20)}\r\n\r\n`]],
])('%s is a lost connection', async (_, pieces) => {
  const server = await startServer(pieces);
  expect(await fetch(server.url)).toMatchObject({ kind: 'failed', outcome: 'connection_lost' });
});

// nock patches the sockets of the process as soon as it is loaded, and the process runs other files after this one.
beforeAll(() => {
  if (!nock.isActive()) nock.activate();
});
afterEach(() => nock.cleanAll());
afterAll(() => nock.restore());
const HOST = 'https://pictures.example';

test.each([
  [429, { 'retry-after': '30' }, { outcome: 'busy', http_status: 429, retryAfterMs: 30_000 }],
  [503, {}, { outcome: 'busy', retryAfterMs: 60_000 }],
  [503, { 'retry-after': '-5' }, { outcome: 'busy', retryAfterMs: 60_000 }],
  [503, { 'retry-after': '0' }, { outcome: 'busy', retryAfterMs: 1_000 }],
  [429, { 'retry-after': '9999999' }, { outcome: 'busy', retryAfterMs: 900_000 }],
  [500, { 'retry-after': '30' }, { outcome: 'http_error', http_status: 500 }],
  [410, {}, { outcome: 'not_found', http_status: 410 }],
  [307, { location: `${HOST}/b.png` }, { outcome: 'redirect', http_status: 307 }],
])('a response with %i and %o', async (status, headers, expected) => {
  nock(HOST).get('/a.png').reply(status, 'no picture', headers);
  expect(await fetch(`${HOST}/a.png`)).toMatchObject({ kind: 'failed', ...expected });
});

test('one exchange: what is sent, and what is kept of the response', async () => {
  const bytes = await aPicture(1);
  const reqheaders = { 'if-none-match': '"zero"', 'accept-encoding': 'identity' };
  const exchange = nock(HOST, { reqheaders, badheaders: ['authorization', 'cookie'] })
    .get('/a.png?size=1')
    .reply(200, bytes, { 'content-type': 'Image/PNG; charset=x', etag: '"one"' });
  expect(await fetch(`${HOST}/a.png?size=1`, '"zero"')).toEqual({
    kind: 'bytes',
    bytes,
    contentType: 'image/png',
    etag: '"one"',
  });
  expect(exchange.isDone()).toBe(true);
});
