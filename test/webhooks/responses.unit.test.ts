import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { describeFailure } from '#src/contract/failure-words.ts';
import {
  aClient,
  aServer,
  askDetail,
  detail,
  envelope,
  errorOf,
  live,
  respondWith,
  targetAt,
} from '#test/support/webhooks.ts';

const good = Buffer.from(envelope(detail()));
const codeFor = async (...response: Parameters<typeof respondWith>): Promise<string> => {
  const server = await respondWith(...response);
  return (await errorOf(askDetail(aClient(), server.url))).code;
};

test.each([
  ['gzip', gzipSync(good)],
  ['x-gzip', gzipSync(good)],
  ['GZIP', gzipSync(good)],
  ['br', brotliCompressSync(good)],
  ['identity', good],
  ['', good],
])('reads a response whose content-encoding is "%s"', async (coding, body) => {
  const server = await respondWith(body, { headers: { 'content-encoding': coding } });
  expect(await askDetail(aClient(), server.url)).toEqual(detail());
});

test.each([
  ['two layers of gzip', 'gzip, gzip', gzipSync(gzipSync(good))],
  ['gzip under brotli', 'gzip, br', brotliCompressSync(gzipSync(good))],
  ['a coding that the request does not accept', 'zstd', zstdCompressSync(good)],
  ['deflate, which is ambiguous', 'deflate', deflateSync(good)],
  ['an unknown coding', 'rot13', good],
  ['a name that objects inherit', 'constructor', good],
  ['gzip that is not', 'gzip', good],
  ['gzip cut short', 'gzip', gzipSync(good).subarray(0, 60)],
  ['a layer that is missing', 'gzip, br', gzipSync(good)],
])('refuses %s', async (_, coding, body) => {
  const server = await respondWith(body, { headers: { 'content-encoding': coding } });
  const { code: kind, reasons } = await errorOf(askDetail(aClient(), server.url));
  expect(kind).toBe('not_decodable');
  expect(describeFailure({ operation: 'query_game_detail', kind, reasons })).toBe(
    'The answer does not decompress, or has a compression that was not requested.',
  );
});

test('a game that was not called is not blamed on its server alone: an operator may have cancelled the run', () => {
  const failure = { operation: 'query_game_detail', kind: 'not_requested', reasons: [] } as const;
  expect(describeFailure(failure)).toContain('the run ended first');
});

test.each([
  ['with 204', 204, Buffer.alloc(0)],
  ['with 200', 200, Buffer.alloc(0)],
  ['after decompression', 200, gzipSync('')],
])('names an empty response as such: %s', async (_, status, body) => {
  const headers: Record<string, string> = body.length > 0 ? { 'content-encoding': 'gzip' } : {};
  const server = await respondWith(body, { status, headers });
  const { code: kind, reasons } = await errorOf(askDetail(aClient(), server.url));
  expect(describeFailure({ operation: 'query_game_detail', kind, reasons })).toBe(
    'The answer is not JSON: an error page of a proxy (the answer is empty)?',
  );
});

test('names data of another type as such, as an empty array of PHP', async () => {
  const server = await respondWith(envelope([]));
  const { code: kind, reasons } = await errorOf(aClient().queryCpKyc(targetAt(server.url), live()));
  expect(describeFailure({ operation: 'query_cp_kyc', kind, reasons })).toContain(
    'data is missing or of another type',
  );
});

test('reads up to the cap of its operation and not a byte more', async () => {
  const cap = 1024 * 1024;
  const padded = Buffer.alloc(cap, 0x20);
  good.copy(padded);
  const client = aClient();
  const fits = await respondWith(padded);
  expect(await askDetail(client, fits.url)).toEqual(detail());
  const zipped = await respondWith(gzipSync(padded), { headers: { 'content-encoding': 'gzip' } });
  expect(await askDetail(client, zipped.url)).toEqual(detail());

  const over = Buffer.concat([padded, Buffer.from(' ')]);
  expect(await codeFor(over)).toBe('body_too_large');
  expect(await codeFor(gzipSync(over), { headers: { 'content-encoding': 'gzip' } })).toBe('body_too_large');
  expect(await codeFor(brotliCompressSync(over), { headers: { 'content-encoding': 'br' } })).toBe(
    'body_too_large',
  );

  const list = await respondWith(Buffer.concat([Buffer.from(envelope({ total: 0, list: [] })), over]));
  const ask = client.queryGameList(targetAt(list.url), { page_num: 1, page_size: 100 }, live());
  expect((await errorOf(ask)).code).toBe('not_json');
  const kyc = await respondWith(Buffer.alloc(256 * 1024 + 1, 0x20));
  expect((await errorOf(client.queryCpKyc(targetAt(kyc.url), live()))).code).toBe('body_too_large');
});

test('cuts a body that never ends, and frees its connection', async () => {
  const server = await aServer((request, response) => {
    request.resume();
    const flood = (): void => {
      while (response.write(Buffer.alloc(65_536, 0x20)));
    };
    response.on('drain', flood);
    flood();
  });
  expect((await errorOf(askDetail(aClient(), server.url))).code).toBe('body_too_large');
  await expect.poll(server.openConnections).toBe(0);
});

test('reads a body that comes in many small pieces', async () => {
  const server = await aServer((request, response) => {
    request.resume();
    for (const byte of good) response.write(Buffer.of(byte));
    response.end();
  });
  expect(await askDetail(aClient(), server.url)).toEqual(detail());
});

test.each([
  ['nothing, with 204', '', 204, 'not_json'],
  ['nothing, with 200', '', 200, 'not_json'],
  ['a web page with 200', '<!doctype html><title>Login</title>', 200, 'not_json'],
  ['half an envelope', '{"ret_code":0,"ret_msg":"succ', 200, 'not_json'],
  ['two envelopes', good.toString() + good.toString(), 200, 'not_json'],
  ['null', 'null', 200, 'not_envelope'],
  ['an array', '[]', 200, 'not_envelope'],
  ['a string', '"success"', 200, 'not_envelope'],
  ['a ret_code that is a string', '{"ret_code":"0","ret_msg":"success","data":null}', 200, 'not_envelope'],
  ['a ret_code that is a fraction', '{"ret_code":0.5,"ret_msg":"x","data":null}', 200, 'not_envelope'],
  [
    'a ret_code of more than 53 bits',
    '{"ret_code":9007199254740993,"ret_msg":"x","data":null}',
    200,
    'ret_code',
  ],
  ['a ret_code past all numbers', '{"ret_code":1e999,"ret_msg":"x","data":null}', 200, 'not_envelope'],
  ['a ret_msg that is null', '{"ret_code":0,"ret_msg":null,"data":null}', 200, 'not_envelope'],
  ['no data at all', '{"ret_code":0,"ret_msg":"success"}', 200, 'invalid_data'],
  ['data that is a list', envelope([]), 200, 'invalid_data'],
  ['a page with 404', '<h1>Not Found</h1>', 404, 'http_status'],
  ['JSON without an envelope, with 500', '{"error":"oops"}', 500, 'http_status'],
  ['nothing, with 503', '', 503, 'http_status'],
])('refuses %s', async (_, body, status, code) => {
  expect(await codeFor(body, { status })).toBe(code);
});

test('lets the status speak where the body of an error cannot be read', async () => {
  const headers = { 'content-encoding': 'gzip', 'retry-after': '1' };
  const server = await respondWith('<h1>busy</h1>', { status: 503, headers });
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'http_status', status: 503, retryable: true, retryAfterMs: 1_000 });
});

const refusal = JSON.stringify({ ret_code: 7, ret_msg: 'not now', data: null });
test.each([
  [429, refusal, 60_000],
  [503, '<h1>busy</h1>', 60_000],
  [200, refusal, undefined],
  [404, '<h1>no such page</h1>', undefined],
  [500, refusal, undefined],
])('honours Retry-After with 429 and 503 alone: %i', async (status, body, retryAfterMs) => {
  const server = await respondWith(body, { status, headers: { 'retry-after': '60' } });
  expect((await errorOf(askDetail(aClient(), server.url))).retryAfterMs).toBe(retryAfterMs);
});

test('refuses bytes that are not UTF-8, and ignores a byte order mark', async () => {
  const client = aClient();
  const latin1 = Buffer.from(envelope({ ...detail(), game_name: 'Café' }), 'latin1');
  expect(await codeFor(latin1)).toBe('not_utf8');
  expect(await codeFor(Buffer.from(good.toString(), 'utf16le'))).toBe('not_json');
  const marked = await respondWith(`\ufeff${good}`);
  expect(await askDetail(client, marked.url)).toEqual(detail());
});

test('refuses JSON nested deeper than it reads, before it is parsed', async () => {
  const nested = (depth: number): string =>
    envelope(0).replace(':0}', `:${'['.repeat(depth)}${']'.repeat(depth)}}`);
  expect(await codeFor(nested(31))).toBe('invalid_data');
  expect(await codeFor(nested(32))).toBe('too_deep');
  expect(await codeFor('{"a":'.repeat(100_000))).toBe('too_deep');
  const brackets = { ...detail(), game_info: `\\"${'[{'.repeat(100)}\\` };
  const server = await respondWith(envelope(brackets));
  expect(await askDetail(aClient(), server.url)).toEqual(brackets);
});

test('takes no harm from __proto__', async () => {
  const poison = '"__proto__":{"polluted":true,"ret_code":0}';
  const body = envelope({ ...detail() }).replaceAll('{', `{${poison},`);
  const server = await respondWith(body);
  const response = await askDetail(aClient(), server.url);
  expect(response).toEqual(detail());
  expect(Object.getPrototypeOf(response)).toBe(Object.prototype);
  expect('polluted' in {}).toBe(false);
  expect(await codeFor(`{"__proto__":{"ret_code":0,"ret_msg":"","data":null}}`)).toBe('not_envelope');
});

test.each([
  ['names as numbers', { game_name: 7 }, 'game_name', 'invalid_type'],
  ['null for a string', { game_info: null }, 'game_info', 'invalid_type'],
  ['U+0000', { game_name: 'a\u0000' }, 'game_name', 'not_storable'],
  ['a lone surrogate', { game_info: '\ud800' }, 'game_info', 'not_storable'],
  ['a script for a URL', { game_icon: ['javascript:alert(1)'] }, 'game_icon.0', 'not_http_url'],
  ['one icon instead of a list', { game_icon: 'https://cdn.example/i.png' }, 'game_icon', 'invalid_type'],
])('refuses a detail with %s, and names the field', async (_, change, path, code) => {
  const server = await respondWith(envelope({ ...detail(), ...change }));
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error.code).toBe('invalid_data');
  expect(error.reasons).toEqual([{ path, code }]);
});
