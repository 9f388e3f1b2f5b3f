/** Another user of the machine takes the port of an embedded Postgres, speaks its protocol and asks for the password. */
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findRunningInstance } from '#src/embedded/postgres.ts';
import { startPostmaster } from '#src/embedded/postmaster.ts';
import { makeHome, start } from '#test/support/homes.ts';

const PASSWORD = 'planted-password';
/** AuthenticationCleartextPassword. */
const ASK = [0x52, 0, 0, 0, 8, 0, 0, 0, 3];
/** The fields of an ErrorResponse. */
const REFUSED = 'SFATAL\0C28P01\0Mrefused\0\0';

test('a port that an instance has left is sent no password', async () => {
  const home = await makeHome();
  await (await start(home)).stop();
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.from(ASK));
      socket.on('data', (bytes) => {
        heard.push(bytes.toString());
        socket.end(Buffer.concat([Buffer.from([0x45, 0, 0, 0, 4 + REFUSED.length]), Buffer.from(REFUSED)]));
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const databaseUrl = `postgres://catalogue:${PASSWORD}@127.0.0.1:${port}/catalogue`;
  // What a process that was killed leaves.
  await writeFile(join(home, 'instance.json'), JSON.stringify({ databaseUrl, pid: 1 }));
  expect(await findRunningInstance(home)).toBeNull();
  expect(heard).toEqual([]);
});

test('a process that takes the port before Postgres does is sent no password', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-taken-'));
  onTestFinished(() => rm(directory, { recursive: true, maxRetries: 20 }));
  await mkdir(join(directory, 'data'));
  // Stands for both: the port is taken, and Postgres ends a moment later.
  const thief = `#!${process.execPath}
const [, port] = /port=(\\d+)/.exec(process.argv.join(' '));
require('node:net').createServer((socket) => {
  socket.once('data', () => {
    socket.write(Buffer.from(${JSON.stringify(ASK)}));
    socket.on('data', (bytes) => require('node:fs').appendFileSync('heard', bytes));
  });
}).listen(port, '127.0.0.1');
require('node:fs').appendFileSync('started', port + '\\n');
setTimeout(() => process.exit(1), 500);
`;
  const postgres = join(directory, 'postgres.cjs');
  await writeFile(postgres, thief, { mode: 0o755 });
  const cluster = {
    directory,
    data: join(directory, 'data'),
    password: PASSWORD,
    binaries: { postgres, initdb: '', package: '', version: '' },
    user: null,
  };
  await expect(startPostmaster(cluster, { settings: {}, onProgress: () => {} })).rejects.toThrow(
    'did not start',
  );
  expect((await readFile(join(directory, 'started'), 'utf8')).trim().split('\n').length).toBeGreaterThan(0);
  expect(await readFile(join(directory, 'heard'), 'utf8').catch(() => '')).toBe('');
});
