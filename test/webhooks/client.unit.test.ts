import { getEventListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { generateKycRecord } from '#src/sample-application/kyc.ts';
import { createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import {
  aClient,
  aServer,
  askDetail,
  detail,
  envelope,
  errorOf,
  live,
  respondWith,
  TOKEN,
  targetAt,
} from '#test/support/webhooks.ts';

const record = async () => {
  const seen: { request: IncomingMessage; body: string }[] = [];
  const server = await aServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ request, body });
      response.end(envelope(body.includes('page_num') ? { total: 0, list: [] } : null));
    });
  });
  return { server, seen };
};

test('sends to each webhook what section 4 says, to the byte', async () => {
  const { server, seen } = await record();
  const client = aClient();
  const target = {
    ...targetAt(server.url),
    query_game_list_webhook: `${server.url}/list?tenant=1`,
    query_game_detail_webhook: `${server.url}/detail`,
    query_cp_kyc_webhook: `${server.url}/kyc`,
  };
  await client.queryGameList(target, { page_num: 1, page_size: 100 }, live());
  await client.queryGameDetail(target, { game_id: 'Æther "1"' }, live());
  await client.queryCpKyc(target, live());
  expect(seen.map(({ request, body }) => [request.method, request.url, body])).toEqual([
    ['POST', '/list?tenant=1', '{"page_num":1,"page_size":100}'],
    ['POST', '/detail', '{"game_id":"Æther \\"1\\""}'],
    ['POST', '/kyc', '{}'],
  ]);
  for (const { request, body } of seen) {
    expect(request.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
    });
  }
});

test('calls one application over one connection again and again', async () => {
  const { server } = await record();
  const client = aClient();
  for (let call = 0; call < 10; call += 1) await askDetail(client, server.url);
  expect(server.connections()).toBe(1);
});

test('gives the list with its elements unread', async () => {
  const list = [{ game_id: 7 }, null, 'x'];
  const server = await respondWith(envelope({ total: 3, list, extra: true }));
  const response = await aClient().queryGameList(
    targetAt(server.url),
    { page_num: 1, page_size: 100 },
    live(),
  );
  expect(response).toEqual({ total: 3, list });
});

test('gives the detail with its unknown fields left out, and null where there is no data', async () => {
  const full = await respondWith(envelope({ ...detail(), audit_status: 'passed' }));
  const none = await respondWith(envelope(null));
  const client = aClient();
  expect(await askDetail(client, full.url)).toEqual(detail());
  expect(await askDetail(client, none.url)).toBeNull();
  expect(await client.queryCpKyc(targetAt(none.url), live())).toBeNull();
});

test('gives the KYC record', async () => {
  const record = generateKycRecord('a');
  const server = await respondWith(envelope(record));
  expect(await aClient().queryCpKyc(targetAt(server.url), live())).toEqual(record);
});

test('refuses the detail of another game, and names the field', async () => {
  const server = await respondWith(envelope(detail('g2')));
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'invalid_data', retryable: false, transport: false });
  expect(error.reasons).toEqual([{ path: 'game_id', code: 'mismatch' }]);
});

test('names the fields of a KYC record that are wrong, and none of its values', async () => {
  const server = await respondWith(
    envelope({ ...generateKycRecord('a'), id_number: 4711_0815, tax_id: 'NUL\u0000' }),
  );
  const error = await errorOf(aClient().queryCpKyc(targetAt(server.url), live()));
  expect(error.reasons).toEqual([
    { path: 'id_number', code: 'invalid_type' },
    { path: 'tax_id', code: 'not_storable' },
  ]);
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('4711');
});

test('follows an envelope with any HTTP status', async () => {
  const client = aClient();
  for (const status of [200, 201, 400, 404, 500, 503]) {
    const server = await respondWith(envelope(detail()), { status });
    expect(await askDetail(client, server.url)).toEqual(detail());
  }
});

test('tells a non-zero ret_code with a message that is cut, on one line, and without the token', async () => {
  const ret_msg = `no such game\u0000\u001b[31m\r\nfor ${TOKEN}\u200f${'🎲'.repeat(400)}`;
  const server = await respondWith(JSON.stringify({ ret_code: 40401, ret_msg, data: null }), {
    status: 404,
  });
  const error = await errorOf(askDetail(aClient(), server.url));
  expect(error).toMatchObject({ code: 'ret_code', retCode: 40401, status: 404 });
  expect(error.retMsg).toMatch(/^no such game {2}\[31m {2}for \[access token\] 🎲+$/u);
  expect([...(error.retMsg ?? '')]).toHaveLength(200);
});

test('keeps no ret_msg for KYC, because it could contain a value', async () => {
  const server = await respondWith(
    JSON.stringify({ ret_code: 1, ret_msg: 'bad id_number S1234567', data: null }),
  );
  const error = await errorOf(aClient().queryCpKyc(targetAt(server.url), live()));
  expect(error).toMatchObject({ code: 'ret_code', retCode: 1, retMsg: undefined });
  expect(error.message).not.toContain('S1234567');
});

test.each([
  ['compressed', 200, true],
  ['compressed, with a status of 503', 503, true],
  ['not compressed', 200, false],
])(
  'a call that is aborted while its large response waits for memory is aborted: %s',
  async (_, status, isCompressed) => {
    const body = Buffer.from(envelope({ ...detail(), game_info: 'a'.repeat(200_000) }));
    const server = await respondWith(
      isCompressed ? gzipSync(body) : body,
      isCompressed ? { status, headers: { 'content-encoding': 'gzip' } } : { status },
    );
    const full = createAnswerMemory();
    const controller = new AbortController();
    const memory = {
      ...full,
      createAdmission: () => ({
        admit: (signal: AbortSignal) => {
          const admitted = full.createAdmission('acme', Number.POSITIVE_INFINITY).admit(signal);
          controller.abort();
          return admitted;
        },
        release: () => {},
      }),
    };
    const error = await errorOf(askDetail(aClient({ memory }), server.url, controller.signal));
    expect(error).toMatchObject({ code: 'aborted', retryable: true });
  },
);

test('carries fifty calls on one signal with one listener, and leaves none', async () => {
  const controller = new AbortController();
  const listeners = () => getEventListeners(controller.signal, 'abort').length;
  const seen: number[] = [];
  const server = await aServer((request, response) => {
    seen.push(listeners());
    request.resume().on('end', () => response.end(envelope(null)));
  });
  const client = aClient();
  await Promise.all(Array.from({ length: 50 }, () => askDetail(client, server.url, controller.signal)));
  expect(seen).toEqual(Array(50).fill(1));
  expect(listeners()).toBe(0);
});
