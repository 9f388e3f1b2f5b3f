import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, KEY } from '#test/support/self-signed.ts';

/** A TLS 1.3 server that sends 32 session tickets when a connection begins. Node's own sends two. */
export const startTicketServer = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tickets-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const pem = join(directory, 'server.pem');
  await writeFile(pem, `${CERTIFICATE}\n${KEY}\n`);
  const keys = ['-cert', pem, '-key', pem];
  const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...keys, '-num_tickets', '32'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
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
