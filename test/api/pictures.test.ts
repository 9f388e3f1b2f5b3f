import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeadline } from '#src/api/deadline.ts';
import { addPictureRoutes } from '#src/api/pictures.ts';
import { createServer } from '#src/http/create-server.ts';
import { createFileStore, openFileStore, pathInArea } from '#src/picture-store/file-store.ts';
import { nameOfPicture, type StoredPicture } from '#src/picture-store/store.ts';
import { startApi, type TestApi } from '#test/support/api.ts';
import { countOpen } from '#test/support/open-files.ts';
import { aPicture } from '#test/support/pictures.ts';

let directory: string;
let api: TestApi;
let bytes: Buffer;
let passed: StoredPicture;
let seen: StoredPicture;
const describeBytes = (all: Buffer): StoredPicture => ({
  sha256: createHash('sha256').update(all).digest('hex'),
  format: 'png',
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalogue-served-'));
  await createFileStore(directory);
  const store = openFileStore(directory);
  bytes = await aPicture(1);
  passed = describeBytes(bytes);
  await store.put('passed', passed, bytes);
  const other = await aPicture(2);
  seen = describeBytes(other);
  await store.put('seen', seen, other);
  await writeFile(join(directory, 'secret.png'), 'not for readers');
  api = await startApi({ pictures: { url: () => undefined, directory } });
});
afterAll(async () => {
  await api.close();
  await rm(directory, { recursive: true });
});

const get = (name: string, init: RequestInit = {}) => fetch(`${api.url}/pictures/${name}`, init);

test('a picture is sent with its type, for a year, and as something that runs nowhere', async () => {
  const response = await get(nameOfPicture(passed));
  expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'cross-origin',
    'accept-ranges': 'bytes',
  });
});

test('HEAD, a part, a part beyond the end, and a copy that is current', async () => {
  const name = nameOfPicture(passed);
  const head = await get(name, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    String(bytes.length),
    '',
  ]);
  const part = await get(name, { headers: { range: 'bytes=8-15' } });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(`bytes 8-15/${bytes.length}`);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(8, 16));
  const tail = await get(name, { headers: { range: 'bytes=-3' } });
  expect(Buffer.from(await tail.arrayBuffer())).toEqual(bytes.subarray(-3));
  const invalid = await get(name, { headers: { range: 'bytes=5-2' } });
  expect([invalid.status, (await invalid.arrayBuffer()).byteLength]).toEqual([200, bytes.length]);
  const beyond = await get(name, { headers: { range: 'bytes=99999999-' } });
  expect([beyond.status, beyond.headers.get('cache-control')]).toEqual([416, 'no-store']);
  const etag = head.headers.get('etag') ?? '';
  // Without it fetch sends `no-cache`.
  const current = await get(name, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } });
  expect([current.status, await current.text()]).toEqual([304, '']);
});

/** A path as it is, without the normalisation of `fetch`. */
const getRaw = (path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });

test('what is not a picture of a passed game is not there, by whatever name', async () => {
  await symlink(join(directory, 'secret.png'), join(directory, 'passed', 'link.png'));
  const { sha256 } = passed;
  const names = [
    nameOfPicture(seen),
    `${sha256}.svg`,
    `${sha256}.html`,
    `${sha256}.jpg`,
    sha256,
    `${'0'.repeat(64)}.png`,
    'link.png',
    '',
    `../seen/${seen.sha256.slice(0, 2)}/${nameOfPicture(seen)}`,
    `..%2fseen%2f${seen.sha256.slice(0, 2)}%2f${nameOfPicture(seen)}`,
    '..%2f..%2fsecret.png',
    `${sha256.slice(0, 2)}/${nameOfPicture(passed)}`,
    `${nameOfPicture(passed)}%00.png`,
    `%2e%2e/${nameOfPicture(passed)}`,
  ];
  for (const name of names) expect(await getRaw(`/pictures/${name}`), name).toBeOneOf([400, 404]);
  const { status, headers } = await get(`${'0'.repeat(64)}.png`);
  expect([status, headers.get('cache-control')]).toEqual([404, 'no-store']);
  expect((await get(nameOfPicture(passed), { method: 'POST' })).status).toBeOneOf([404, 405]);
});

test('links and pipes that another process has put into the store are no pictures', async () => {
  const named = async (first: string) => {
    await mkdir(join(directory, 'passed', first.repeat(2)), { recursive: true });
    const name = `${first.repeat(64)}.png`;
    return { name, path: join(directory, 'passed', first.repeat(2), name) };
  };
  const [link, pipe, folder] = [await named('b'), await named('c'), await named('d')];
  await symlink(join(directory, 'secret.png'), link.path);
  execFileSync('mkfifo', [pipe.path]);
  await mkdir(folder.path);
  const beside = await named('e');
  await rename(dirname(beside.path), join(directory, 'beside'));
  await writeFile(join(directory, 'beside', beside.name), 'not for readers');
  await symlink(join(directory, 'beside'), dirname(beside.path));
  for (const { name } of [link, pipe, folder, beside]) {
    const response = await get(name, { signal: AbortSignal.timeout(10_000) });
    expect([name, response.status, await response.text()]).toEqual([name, 404, expect.any(String)]);
  }
});

test('clients that do not read keep no other from the pictures', async () => {
  const large = describeBytes(Buffer.alloc(10 * 1024 * 1024, 7));
  await openFileStore(directory).put('passed', large, Buffer.alloc(10 * 1024 * 1024, 7));
  const few = createServer(pino({ level: 'silent' }), { bodyMaxBytes: 1_024, connectionsMax: 10 });
  addPictureRoutes(few, directory, 3);
  const url = await few.listen({ host: '127.0.0.1', port: 0 });
  const idle = Array.from({ length: 5 }, () => request(`${url}/pictures/${nameOfPicture(large)}`).end());
  try {
    await Promise.all(
      idle.map((each) =>
        once(
          each.on('error', () => {}),
          'response',
        ).catch(() => {}),
      ),
    );
    const response = await fetch(`${url}/pictures/${nameOfPicture(passed)}`);
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, bytes.length]);
  } finally {
    for (const each of idle) each.destroy();
    await few.close();
  }
});

test('a picture whose client reads longer than a call may take arrives whole', async () => {
  const all = Buffer.alloc(10 * 1024 * 1024, 8);
  const large = describeBytes(all);
  await openFileStore(directory).put('passed', large, all);
  const deadlineMs = 1_000;
  const failures: unknown[] = [];
  const app = createServer(pino({ level: 'silent' }), { bodyMaxBytes: 1_024, connectionsMax: 10 });
  app.addHook(
    'onRequest',
    createDeadline(deadlineMs, (error, _request, reply) => {
      failures.push(error);
      return reply.code(503).send();
    }),
  );
  addPictureRoutes(app, directory);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const response = await fetch(`${url}/pictures/${nameOfPicture(large)}`);
    await sleep(deadlineMs + 50);
    expect([(await response.arrayBuffer()).byteLength, failures]).toEqual([all.length, []]);
  } finally {
    await app.close();
  }
});

/** Occupies every thread that opens files, as a volume that hangs does. @returns frees them */
const holdThreads = (): (() => Promise<void>) => {
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const readers = Array.from({ length: threads }, () => open(pipe, constants.O_RDONLY));
  return async () => {
    const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    for (const reader of await Promise.all(readers)) await reader.close();
    closeSync(writer);
  };
};

test('a picture that is opened after the deadline of its call stays open nowhere', async () => {
  const app = createServer(pino({ level: 'silent' }), { bodyMaxBytes: 1_024, connectionsMax: 10 });
  const deadline = createDeadline(200, (_error, _request, reply) => reply.code(503).send());
  app.addHook('onRequest', deadline);
  addPictureRoutes(app, directory);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const name = nameOfPicture(passed);
  try {
    const free = holdThreads();
    const response = await fetch(`${url}/pictures/${name}`).finally(free);
    expect(response.status).toBe(503);
    // By then the first call has ended, too.
    for (let call = 0; call < 3; call += 1)
      expect((await fetch(`${url}/pictures/${name}`, { method: 'HEAD' })).status).toBe(200);
    expect(await countOpen(join(directory, 'passed', pathInArea(name)))).toBe(0);
  } finally {
    await app.close();
  }
});

test('a server without a directory serves no pictures', async () => {
  const other = await startApi({ pictures: { url: () => 'https://pictures.example', directory: undefined } });
  expect((await fetch(`${other.url}/pictures/${nameOfPicture(passed)}`)).status).toBe(404);
  await other.close();
});
