import type { LookupAddress } from 'node:dns';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { findPictures, readThumbnail } from '#db/queries/pictures.ts';
import { THUMBNAIL_WIDTHS } from '#src/contract/pictures.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { pictureRequested } from '#src/pictures/picture-requested.ts';
import { createPictures, type Pictures } from '#src/pictures/refresh.ts';
import { aPicture, manyFrames, type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const MAX_BYTES = 2_000_000;
const signal = new AbortController().signal;
let server: PictureServer;
let decoder: Decoder;
let pictures: Pictures;
/** What the name `rebind.test` resolves to, look-up by look-up. */
let answers: string[] = [];

beforeAll(async () => {
  server = await startPictureServer();
  decoder = createDecoder();
  const resolve = (_name: string, _options: unknown, done: (error: null, all: LookupAddress[]) => void) =>
    done(null, [{ address: answers.shift() ?? '10.0.0.1', family: 4 }]);
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'], resolve });
  const sql = database.as('media');
  pictures = createPictures({
    reopenGames: createReopenGames(sql),
    sql,
    egress,
    decoder,
    maxBytes: MAX_BYTES,
    recheckMs: 3_600_000,
    requestMs: 1_500,
  });
});
afterAll(async () => {
  pictures.close();
  decoder.close();
  await server.close();
});
beforeEach(() => {
  server.files.clear();
  server.requests.length = 0;
});

const see = async (path: string) => {
  const address = { url: `${server.url}${path}`, application_id: 'acme' };
  await pictures.refresh(address, 'look', signal);
  return (await findPictures(database.sql, [address])).get(address);
};

test.each(['png', 'jpeg', 'webp', 'avif', 'gif'] as const)(
  'a %s becomes WebP thumbnails of every width',
  async (format) => {
    const bytes = await aPicture(1, format, { width: 1_600, height: 900 });
    server.files.set(`/a.${format}`, { bytes, type: `image/${format}` });
    const view = await see(`/a.${format}`);
    expect(view).toMatchObject({
      outcome: 'shown',
      note: null,
      bytes: bytes.length,
      format,
      width: 1_600,
      height: 900,
      frames: 1,
      whole: true,
      has_thumbnail: true,
      stale: false,
    });
    for (const width of THUMBNAIL_WIDTHS) {
      const webp = await readThumbnail(database.sql, view?.sha256 ?? '', width);
      expect(await sharp(webp).metadata()).toMatchObject({ format: 'webp', width });
    }
  },
);

test('a picture is requested once, without a token, by however many at once', async () => {
  server.files.set('/once.png', { bytes: await aPicture(2), etag: '"one"' });
  await Promise.all(Array.from({ length: 5 }, () => see('/once.png')));
  await see('/once.png');
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(server.requests[0]?.headers).not.toHaveProperty('cookie');
});

test('a server that answers 304 to a request without an entity tag has sent no picture', async () => {
  server.files.set('/304.png', (_request, response) => response.writeHead(304, { etag: '"any"' }).end());
  expect(await see('/304.png')).toMatchObject({ outcome: 'http_error', http_status: 304, sha256: null });
});

const bomb = () => {
  const create = { width: 8_000, height: 7_000, channels: 3, background: '#123' } as const;
  return sharp({ create }).png().toBuffer();
};

test('the reviewer reads what an application sent, for every kind of bytes', async () => {
  const png = await aPicture(3);
  const jpeg = await aPicture(3, 'jpeg');
  const animated = await sharp([await aPicture(4), await aPicture(5), await aPicture(6)], {
    join: { animated: true },
  })
    .gif()
    .toBuffer();
  server.files.set('/html.png', { bytes: Buffer.from('<html><body>404, but politely</body></html>') });
  server.files.set('/empty.png', { bytes: Buffer.alloc(0) });
  server.files.set('/text.svg', {
    bytes: Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
  });
  server.files.set('/cut.jpg', { bytes: jpeg.subarray(0, jpeg.length / 2), type: 'image/jpeg' });
  server.files.set('/bomb.png', { bytes: await bomb() });
  server.files.set('/animated.gif', { bytes: animated, type: 'image/gif' });
  server.files.set('/lie.png', { bytes: jpeg, type: 'image/png' });
  server.files.set('/large.png', { bytes: Buffer.concat([png, Buffer.alloc(MAX_BYTES)]) });
  server.files.set('/moved.png', { bytes: png, status: 302, headers: { location: '/lie.png' } });
  server.files.set('/error.png', { bytes: png, status: 500 });
  server.files.set('/zip.png', { bytes: png, headers: { 'content-encoding': 'gzip' } });
  const outcomes: Record<string, unknown> = {};
  for (const path of [...server.files.keys(), '/nowhere.png']) {
    const { outcome, http_status, frames, note } = (await see(path)) ?? {};
    outcomes[path] = [outcome, http_status, frames, note].filter((each) => each !== null);
  }
  expect(outcomes).toEqual({
    '/html.png': ['not_an_image', 200],
    '/empty.png': ['not_an_image', 200],
    '/text.svg': ['svg', 200, 'sent as image/png, is svg'],
    '/cut.jpg': ['broken', 200],
    '/bomb.png': ['too_many_pixels', 200],
    '/animated.gif': ['shown', 200, 3],
    '/lie.png': ['shown', 200, 1, 'sent as image/png, is jpeg'],
    '/large.png': ['too_large', 200],
    '/moved.png': ['redirect', 302],
    '/error.png': ['http_error', 500],
    '/zip.png': ['encoded', 200],
    '/nowhere.png': ['not_found', 404],
  });
  expect(server.requests.filter(({ path }) => path === '/lie.png')).toHaveLength(1);
});

test('private addresses and names that rebind are not dialled', async () => {
  const { port } = new URL(server.url);
  const outcomeOf = async (url: string) =>
    (await pictures.refresh({ url, application_id: 'acme' }, 'look', signal)).outcome;
  expect(await outcomeOf('http://10.1.2.3/a.png')).toBe('forbidden_address');
  expect(await outcomeOf('http://169.254.169.254/latest/meta-data')).toBe('forbidden_address');
  expect(await outcomeOf('ftp://127.0.0.1/a.png')).toBe('forbidden_address');
  // Allowed at the first look-up, private at the second: each connection uses the addresses that it checked.
  server.files.set('/one.png', { bytes: await aPicture(7) });
  answers = ['127.0.0.1', '192.168.0.1'];
  expect(await outcomeOf(`http://rebind.test:${port}/one.png`)).toBe('shown');
  expect(await outcomeOf(`http://again.rebind.test:${port}/two.png`)).toBe('forbidden_address');
  expect(server.requests.map(({ path }) => path)).toEqual(['/one.png']);
});

test('a trickle ends at the deadline; after two, no more requests are sent to the host, or counted', async () => {
  const counted: unknown[] = [];
  onTestFinished(pictureRequested.subscribe((event) => counted.push(event)));
  const bytes = await aPicture(8);
  const trickle = (n: number) =>
    server.files.set(`/slow-${n}.png`, (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      let sent = 0;
      const timer = setInterval(() => response.write(bytes.subarray(sent, ++sent)), 50);
      response.on('close', () => clearInterval(timer));
    });
  for (const n of [1, 2, 3, 4]) trickle(n);
  const outcomes = await Promise.all(
    [1, 2, 3, 4].map((n) =>
      pictures.refresh({ url: `${server.url}/slow-${n}.png`, application_id: 'acme' }, 'look', signal),
    ),
  );
  const said = outcomes.map(({ outcome }) => outcome);
  expect(said).toEqual(['timeout', 'timeout', 'not_requested', 'not_requested']);
  expect(counted).toEqual(Array(2).fill({ outcome: 'timeout', purpose: 'look', driftedGames: 0 }));
  expect(server.requests.length).toBeLessThanOrEqual(2);
});

test('after a picture that takes the decoder seconds, its application waits, and others do not', async () => {
  const files = [
    ['/frames.webp', await manyFrames(32_000)],
    ['/good.png', await aPicture(41)],
    ['/other.png', await aPicture(42)],
  ] as const;
  for (const [path, bytes] of files) server.files.set(path, { bytes });
  const look = (path: string, application_id: string) =>
    pictures.refresh({ url: `${server.url}${path}`, application_id }, 'look', signal);
  expect((await look('/frames.webp', 'hostile')).decodeMs).toBeGreaterThan(2_000);
  const next = await look('/good.png', 'hostile');
  expect(next).toMatchObject({ outcome: undefined, failure: { outcome: 'busy', http_status: null } });
  expect(await look('/other.png', 'other')).toMatchObject({ outcome: 'shown' });
  expect(server.requests.map(({ path }) => path)).toEqual(['/frames.webp', '/other.png']);
});
