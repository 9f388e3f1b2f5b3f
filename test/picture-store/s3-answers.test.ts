import type { RequestListener } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openS3Store } from '#src/picture-store/s3-store.ts';
import type { PictureStore } from '#src/picture-store/store.ts';
import { startRawServer } from '#test/support/application-server.ts';

// What answers in the place of a bucket: something else than S3, or a server that does not end.
const PICTURE = { sha256: 'ab'.repeat(32), format: 'png' } as const;

const openAt = async (answer: RequestListener, callMs = 60_000, pagesMax = 10): Promise<PictureStore> => {
  const server = await startRawServer(answer);
  onTestFinished(() => server.close());
  const place = { kind: 's3', bucket: 'pictures', prefix: '', endpoint: server.url } as const;
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' };
  const store = openS3Store(
    place,
    { region: 'us-east-1', credentials, maxAttempts: 1 },
    { callMs, pagesMax },
  );
  onTestFinished(store.close);
  return store;
};

test.each([
  ['an error', '<Error><Code>InternalError</Code></Error>'],
  ['nothing', ''],
  ['a page of something else', '<html>Sign in to this network.</html>'],
])('a picture whose copy was answered 200 with %s is not deleted', async (_, body) => {
  const methods: string[] = [];
  const store = await openAt((request, response) => {
    methods.push(request.method ?? '');
    response.end(body);
  });
  await expect(store.move('passed', PICTURE)).rejects.toThrow('it reported an error');
  expect(new Set(methods)).toEqual(new Set(['PUT']));
});

test('a response that never ends is ended', async () => {
  const store = await openAt((_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  }, 500);
  await expect(store.move('passed', PICTURE)).rejects.toThrow('it does not answer');
  await expect(store.read('seen', 'a.png')).rejects.toThrow('it does not answer');
  await expect(Array.fromAsync(store.list('seen'))).rejects.toThrow('it does not answer');
});

test.each([200, 500])('a response of 100 MiB with the status %i is not read into memory', async (status) => {
  const received: Promise<boolean>[] = [];
  const store = await openAt((_, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    received.push(
      pipeline(
        Array.from({ length: 100 }, () => Buffer.alloc(1024 * 1024, '<')),
        response,
      ).then(
        () => true,
        () => false,
      ),
    );
  });
  await expect(store.put('seen', PICTURE, Buffer.from('bytes'))).rejects.toThrow('it reported an error');
  await expect(store.delete('seen', 'a.png')).rejects.toThrow('it reported an error');
  await expect(Array.fromAsync(store.list('seen'))).rejects.toThrow('it reported an error');
  expect(await Promise.all(received)).toEqual([false, false, false]);
});

test.each([
  [
    'XML of 600 KB, each byte of which takes 50',
    `<Error><Code>X</Code><Message>${'m'.repeat(600_000)}</Message></Error>`,
    'Error',
  ],
  ['a code of 100 KB', `<Error><Code>${'N'.repeat(100_000)}</Code></Error>`, 'unknown'],
  ['a code that controls a terminal', '<Error><Code>&#x1b;[31m\n{"level":50}</Code></Error>', 'unknown'],
  ['the name of a member of each object', '<Error><Code>constructor</Code></Error>', 'constructor'],
])('an error with %s is reported without it', async (_, body, detail) => {
  const store = await openAt((request, response) => {
    request.resume();
    response.writeHead(500, { 'content-type': 'application/xml' }).end(body);
  });
  const reported = `it reported an error (${detail}).`;
  await expect(store.put('seen', PICTURE, Buffer.from('bytes'))).rejects.toThrow(reported);
  await expect(store.read('seen', 'a.png')).rejects.toThrow(reported);
  await expect(Array.fromAsync(store.list('seen'))).rejects.toThrow(reported);
});

const pageOf = (name: string, next?: string) =>
  `<ListBucketResult><Contents><Key>seen/${name}</Key><Size>1</Size></Contents>${
    next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
  }</ListBucketResult>`;

test('a listing reads the page that the page before it names', async () => {
  const store = await openAt((request, response) => {
    const isSecond = request.url?.includes('continuation-token=further') === true;
    response.end(isSecond ? pageOf('b.png') : pageOf('a.png', 'further'));
  });
  const listed = await Array.fromAsync(store.list('seen'));
  expect(listed.map(({ name }) => name)).toEqual(['a.png', 'b.png']);
});

test.each([
  ['the same', 2, () => 'further'],
  ['another', 10, (page: number) => `page${page}`],
])('a listing that names %s page for ever ends after %i', async (_, pages, nextOf) => {
  let page = 0;
  const store = await openAt((_request, response) => {
    page += 1;
    response.end(pageOf('a.png', nextOf(page)));
  });
  await expect(Array.fromAsync(store.list('seen'))).rejects.toThrow('an endless listing');
  expect(page).toBe(pages);
});

test('a redirect is not followed: its server would get the credentials', async () => {
  let redirected = 0;
  const elsewhere = await startRawServer((_, response) => {
    redirected += 1;
    response.end();
  });
  onTestFinished(() => elsewhere.close());
  const store = await openAt((request, response) => {
    response.writeHead(307, { location: `${elsewhere.url}${request.url}` }).end();
  });
  await expect(store.put('seen', PICTURE, Buffer.from('bytes'))).rejects.toThrow('it reported an error');
  await expect(store.read('seen', 'a.png')).rejects.toThrow('it reported an error');
  expect(redirected).toBe(0);
});
