import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { addPictureRoutes } from '#src/api/pictures.ts';
import { createServer } from '#src/http/create-server.ts';
import { createFileStore, openFileStore } from '#src/picture-store/file-store.ts';
import { hashOfPicture, nameOfPicture } from '#src/picture-store/store.ts';
import { until } from '#test/support/until.ts';

const logger = pino({ level: 'silent' });
const LARGE = Buffer.alloc(10 * 1024 * 1024, 7);
const large = { sha256: hashOfPicture(LARGE), format: 'png' } as const;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalogue-pipelines-'));
  await createFileStore(directory);
  await openFileStore(directory).put('passed', large, LARGE);
});
afterAll(() => rm(directory, { recursive: true }));

const serve = async (add: (app: ReturnType<typeof createServer>) => void): Promise<URL> => {
  const app = createServer(logger, { bodyMaxBytes: 1_024, connectionsMax: 100 });
  add(app);
  onTestFinished(() => app.close());
  return new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
};

const requests = (path: string, count: number): string =>
  `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(count);

/** Sends requests on one connection. */
const pipeline = async ({ hostname, port }: URL, path: string, count: number): Promise<Socket> => {
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(requests(path, count));
  return socket;
};

test('the requests of one connection are handled one after another', async () => {
  let running = 0;
  let most = 0;
  const url = await serve((app) =>
    app.get('/', async () => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      return 'done';
    }),
  );
  const socket = await pipeline(url, '/', 50);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await until('all are answered', () => text.split('done').length === 51);
  // Those that wait count, not those that were answered.
  for (let n = 0; n < 3; n += 1) {
    const before = text.split('done').length;
    socket.write(requests('/', 50));
    await until('further ones too', () => text.split('done').length === before + 50);
  }
  expect(most).toBe(1);
});

test('a client with more requests in waiting than any sends is cut off', async () => {
  let started = 0;
  const url = await serve((app) =>
    app.get('/', () => {
      started += 1;
      return new Promise(() => {});
    }),
  );
  const socket = await pipeline(url, '/', 20_000);
  await until('it is cut off', () => socket.closed);
  expect(started).toBe(1);
});

test('one connection that requests pictures cuts off no other that reads one', async () => {
  const url = await serve((app) => addPictureRoutes(app, directory, 50));
  const path = `/pictures/${nameOfPicture(large)}`;
  const [response] = await once(request(new URL(path, url)).end(), 'response');
  await pipeline(url, path, 90);
  // The second request of another connection is handled after those 90 arrived.
  await fetch(new URL('/none', url));
  expect((await buffer(response)).length).toBe(LARGE.length);
});
