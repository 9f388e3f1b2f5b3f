import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createServer, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { CERTIFICATE, KEY, trustCertificate } from '#test/support/self-signed.ts';
import { aClient, askDetail, errorOf, meteredClient } from '#test/support/webhooks.ts';

/** A TLS 1.3 server that sends this many session tickets when a connection begins. Node's own sends two. */
const startTicketServer = async (tickets: number): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tickets-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const pem = join(directory, 'server.pem');
  await writeFile(pem, `${CERTIFICATE}\n${KEY}\n`);
  const keys = ['-cert', pem, '-key', pem];
  const server = spawn(
    'openssl',
    ['s_server', '-accept', '127.0.0.1:0', ...keys, '-num_tickets', `${tickets}`],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  onTestFinished(() => void server.kill());
  const port = Promise.withResolvers<string>();
  createInterface(server.stdout)
    .on('line', (line) => {
      const found = /^ACCEPT .*:(\d+)$/.exec(line)?.[1];
      if (found !== undefined) port.resolve(found);
    })
    .on('close', () => port.reject(new Error('openssl did not start')));
  return `https://127.0.0.1:${await port.promise}`;
};

test('a server that sends too many session tickets is cut, and its application pays for the most that it can have sent', async () => {
  trustCertificate();
  const url = await startTicketServer(32);
  const { client, costs } = meteredClient();
  const error = await errorOf(askDetail(client, url));
  expect(error).toMatchObject({
    code: 'body_too_large',
    message: 'more than 16 TLS session tickets came with it',
  });
  expect(costs).toMatchObject([{ bytes: 8 * 1024 * 1024 }]);
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
