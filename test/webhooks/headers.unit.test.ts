import type { IncomingHttpHeaders } from 'node:http';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpPost } from '#src/egress/http-post.ts';
import {
  aClient,
  aServer,
  askDetail,
  envelope,
  errorOf,
  live,
  loopback,
  respondWith,
  TOKEN,
  targetAt,
} from '#test/support/webhooks.ts';

test.each([301, 302, 303, 307, 308])('status %i is never followed', async (status) => {
  const elsewhere = await aServer((_, response) => response.end(envelope(null)));
  const server = await respondWith('', { status, headers: { location: elsewhere.url } });
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'redirect', status, retryable: false });
  expect(elsewhere.connections()).toBe(0);
});

test('304 is an HTTP error, and no redirect: it leads nowhere, so no address can be registered', async () => {
  const server = await respondWith('', { status: 304 });
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({ code: 'http_status', status: 304 });
});

test('the body of a redirect is not read', async () => {
  const server = await aServer((_, response) =>
    response.writeHead(302, { location: '/' }).write('without end'),
  );
  expect(await errorOf(askDetail(aClient(), server.url))).toMatchObject({ code: 'redirect', status: 302 });
  await expect.poll(server.openConnections).toBe(0);
});

test.each([
  [429, '120', 120_000],
  [503, '0', 0],
  [503, '86400', 900_000],
  [429, new Date(Date.now() + 3_600_000).toUTCString(), 900_000],
  [429, 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
  [429, '99999999999999999999999', 900_000],
  [429, 'soon', undefined],
  [429, '-1', undefined],
  [429, '1.5', undefined],
  [429, '', undefined],
])('status %i with Retry-After "%s" is retried after %s ms', async (status, header, retryAfterMs) => {
  const server = await respondWith('', { status, headers: { 'retry-after': header } });
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'http_status', status, retryable: true, retryAfterMs });
});

test('a token that a header cannot carry is never shown', async () => {
  const server = await respondWith(envelope(null));
  const target = { ...targetAt(server.url), accessToken: `${TOKEN}\n` };
  for (const call of [
    aClient().queryCpKyc(target, live()),
    aClient().queryGameDetail(target, { game_id: 'g1' }, live()),
  ]) {
    const error = await errorOf(call);
    expect(error.code).toBe('connect_failed');
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(TOKEN);
  }
});

test("a request has its caller's headers and the access token", async () => {
  const received: IncomingHttpHeaders[] = [];
  const { url } = await aServer((request, response) => {
    received.push(request.headers);
    request.resume().on('end', () => response.end());
  });
  const http = createHttpPost({ egress: loopback });
  onTestFinished(() => http.close());
  const request = { url, body: '{}', headers: { 'webhook-id': 'one' }, maxBytes: 1_024, signal: live() };
  await http.post({ ...request, accessToken: TOKEN });
  await http.post({ ...request, accessToken: null });
  expect(received).toMatchObject([
    { 'webhook-id': 'one', authorization: `Bearer ${TOKEN}`, 'user-agent': 'game-catalogue' },
    { 'webhook-id': 'one', 'user-agent': 'game-catalogue' },
  ]);
  expect(received[1]).not.toHaveProperty('authorization');
});
