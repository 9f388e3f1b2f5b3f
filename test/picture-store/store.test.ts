import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { StoreArea } from '#src/contract/pictures.ts';
import { StoreError } from '#src/picture-store/errors.ts';
import { createFileStore, openFileStore, pathInArea } from '#src/picture-store/file-store.ts';
import { parseStoreLocation } from '#src/picture-store/location.ts';
import { openS3Store } from '#src/picture-store/s3-store.ts';
import {
  nameOfPicture,
  type PictureStore,
  parsePictureName,
  type StoredPicture,
} from '#src/picture-store/store.ts';
import { countOpen } from '#test/support/open-files.ts';
import { type S3Server, startS3Server } from '#test/support/s3-server.ts';
import { mayMount, openTmpfs } from '#test/support/tmpfs.ts';

const aFile = (text: string): [StoredPicture, Buffer] => {
  const bytes = Buffer.from(text);
  return [{ sha256: createHash('sha256').update(bytes).digest('hex'), format: 'png' }, bytes];
};
const namesIn = async (store: PictureStore, area: StoreArea): Promise<string[]> =>
  (await Array.fromAsync(store.list(area))).map(({ name }) => name).toSorted();
const errorOf = async (work: Promise<unknown>): Promise<StoreError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof StoreError) return error;
  throw new Error('no StoreError', { cause: error });
};

let s3: S3Server;
let directory: string;
beforeAll(async () => {
  s3 = await startS3Server();
  directory = await mkdtemp(join(tmpdir(), 'catalogue-store-'));
  await createFileStore(directory);
});
afterAll(async () => {
  await s3.close();
  await rm(directory, { recursive: true });
});

describe.each([
  ['a directory', () => openFileStore(directory)],
  ['a bucket', () => s3.open()],
])('%s', (_, open) => {
  test('keeps bytes under their name, moves them between its areas, lists and deletes them, however often', async () => {
    const store = open();
    onTestFinished(store.close);
    const [picture, bytes] = aFile('one');
    const [other, otherBytes] = aFile('another');
    const name = nameOfPicture(picture);
    expect(await store.read('seen', name)).toBeUndefined();
    expect(await namesIn(store, 'seen')).toEqual([]);
    for (let time = 0; time < 2; time += 1) await store.put('seen', picture, bytes);
    await store.put('passed', other, otherBytes);
    expect(await store.read('seen', name)).toEqual(bytes);
    expect(await store.read('passed', name)).toBeUndefined();
    expect(await Array.fromAsync(store.list('seen'))).toEqual([{ area: 'seen', name, bytes: bytes.length }]);
    for (let time = 0; time < 2; time += 1) await store.move('passed', picture);
    expect(await namesIn(store, 'seen')).toEqual([]);
    expect(await namesIn(store, 'passed')).toEqual([name, nameOfPicture(other)].toSorted());
    // A copy that was left in the other area by a process that died.
    await store.put('seen', picture, bytes);
    await store.move('passed', picture);
    expect(await namesIn(store, 'passed')).toHaveLength(2);
    await store.move('seen', picture);
    expect(await store.read('seen', name)).toEqual(bytes);
    for (let time = 0; time < 2; time += 1) await store.delete('seen', name);
    expect((await errorOf(store.move('passed', picture))).code).toBe('missing');
    await store.delete('passed', nameOfPicture(other));
  });

  test('an empty file, as somebody may write there, is no picture', async () => {
    const store = open();
    onTestFinished(store.close);
    const [picture] = aFile('emptied');
    await store.put('seen', picture, Buffer.alloc(0));
    expect(await store.read('seen', nameOfPicture(picture))).toBeUndefined();
    await store.delete('seen', nameOfPicture(picture));
  });
});

test('a file that a process left half written is no picture', async () => {
  const store = openFileStore(directory);
  const [picture] = aFile('half');
  const folder = join(directory, 'seen', picture.sha256.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '.0190a1b2-0000-7000-8000-000000000000.tmp'), 'ha');
  expect(await namesIn(store, 'seen')).toEqual([]);
});

test('a picture that is stored once more while it is read is found', async () => {
  const store = openFileStore(directory);
  onTestFinished(store.close);
  const [picture, bytes] = aFile('stored again and again');
  await store.put('seen', picture, bytes);
  let isDone = false;
  const writes = (async () => {
    while (!isDone) await store.put('seen', picture, bytes);
  })();
  const reads = Array.from({ length: 8 }, async () => {
    for (let time = 0; time < 500; time += 1)
      expect(await store.read('seen', nameOfPicture(picture))).toEqual(bytes);
  });
  await Promise.all(reads).finally(() => {
    isDone = true;
    return writes;
  });
});

test('a picture of which the system gives no path stays open nowhere', async () => {
  const name = 'd'.repeat(200);
  const deep = join(directory, ...Array.from({ length: 19 }, () => name));
  await mkdir(deep, { recursive: true });
  await symlink(deep, join(directory, 'deep'));
  const far = join(directory, 'deep', name, name);
  await createFileStore(far);
  // Part by part, because no path names the whole.
  onTestFinished(() => rm(join(directory, 'deep', name), { recursive: true }));
  const store = openFileStore(far);
  const [picture, bytes] = aFile('far away');
  await store.put('seen', picture, bytes);
  await expect(store.read('seen', nameOfPicture(picture))).rejects.toThrow('ENAMETOOLONG');
  expect(await countOpen(join(far, 'seen', pathInArea(nameOfPicture(picture))))).toBe(0);
});

test('a bucket of many pictures is listed whole', async () => {
  const store = s3.open('many/');
  onTestFinished(store.close);
  const names = Array.from({ length: 1_050 }, (_, n) => aFile(String(n)));
  for (let from = 0; from < names.length; from += 50)
    await Promise.all(
      names.slice(from, from + 50).map(([picture, bytes]) => store.put('seen', picture, bytes)),
    );
  expect(await namesIn(store, 'seen')).toEqual(names.map(([picture]) => nameOfPicture(picture)).toSorted());
});

test.skipIf(!mayMount())(
  'a full disk fails with what to do, leaves nothing behind, and works once there is space',
  async () => {
    await using disk = await openTmpfs();
    await createFileStore(join(disk.directory, 'store'));
    const store = openFileStore(join(disk.directory, 'store'));
    const [before, bytes] = aFile('before');
    await store.put('passed', before, bytes);
    await disk.fill();
    const [picture] = aFile('big');
    const error = await errorOf(store.put('seen', picture, Buffer.alloc(1_000_000)));
    expect(error.code).toBe('full');
    expect(error.message).toMatch(
      /^The store of pictures \(PICTURE_STORE, file:.*\): it is full: free space there \(ENOSPC\)\.$/,
    );
    expect(await store.read('passed', nameOfPicture(before))).toEqual(bytes);
    await disk.free();
    const folder = join(disk.directory, 'store', 'seen', picture.sha256.slice(0, 2));
    expect(await readdir(folder).catch(() => [])).toEqual([]);
    await store.put('seen', picture, Buffer.alloc(1_000_000));
    expect(await namesIn(store, 'seen')).toHaveLength(1);
  },
);

test('a bucket or a directory that is not there, an unknown key and a server that is down are told apart, without a secret', async () => {
  const [picture, bytes] = aFile('x');
  const { endpoint } = s3;
  const put = (store: PictureStore) => {
    onTestFinished(store.close);
    return errorOf(store.put('seen', picture, bytes));
  };
  const credentials = { accessKeyId: 'UNKNOWN', secretAccessKey: 'planted-secret-5c1d' };
  const nowhere = { kind: 's3', bucket: 'no-such-bucket', prefix: '', endpoint } as const;
  const right = {
    region: 'us-east-1',
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  };
  const empty = join(directory, 'not-mounted');
  await mkdir(empty);
  for (const store of [openS3Store(nowhere, right), openFileStore(empty), openFileStore(join(empty, 'no'))]) {
    onTestFinished(store.close);
    expect((await errorOf(store.read('seen', nameOfPicture(picture)))).code).toBe('not_there');
    expect((await errorOf(store.put('seen', picture, bytes))).code).toBe('not_there');
  }
  expect((await errorOf(openFileStore(empty).move('passed', picture))).code).toBe('not_there');
  const denied = await put(s3.open('store/', credentials));
  expect(denied.code).toBe('denied');
  expect(denied.message).not.toContain('planted-secret');
  const down = { ...nowhere, endpoint: 'http://127.0.0.1:1' };
  expect((await put(openS3Store(down, right))).code).toBe('unreachable');
});

test.each([
  ['file:/var/lib/pictures', { kind: 'file', directory: '/var/lib/pictures' }],
  ['file:///var/lib/pictures/', { kind: 'file', directory: '/var/lib/pictures' }],
  ['s3://games', { kind: 's3', bucket: 'games', prefix: '' }],
  ['s3://games/a/b/', { kind: 's3', bucket: 'games', prefix: 'a/b/' }],
])('%s is a place', (text, place) => {
  expect(parseStoreLocation(text)).toMatchObject(place);
});

test.each([
  '',
  'file:pictures',
  'file:',
  '/var/lib',
  's3://',
  's3://G',
  's3://games/a b',
  'https://games/a',
  's3://games/../a?b',
])('%j is none', (text) => {
  expect(() => parseStoreLocation(text)).toThrow();
});

test('only a SHA-256 with the extension of an image is the name of a picture', () => {
  const sha256 = 'a'.repeat(64);
  expect(parsePictureName(`${sha256}.jpg`)).toEqual({ sha256, format: 'jpeg' });
  const others = ['svg', 'html', 'jpeg', 'png/../x', 'PNG', ''].map((extension) => `${sha256}.${extension}`);
  for (const name of [...others, sha256, `${'A'.repeat(64)}.png`, `..%2f${sha256}.png`, `${sha256}a.png`])
    expect(parsePictureName(name)).toBeUndefined();
});

test('other users of the machine do not read pictures that are not of passed games', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'catalogue-modes-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const own = join(parent, 'new', 'store');
  await createFileStore(own);
  const modeOf = async (path: string): Promise<number> => (await stat(join(own, path))).mode & 0o007;
  expect(await modeOf('seen')).toBe(0);
  expect(await modeOf('passed')).toBe(await modeOf(''));
});
