import { expect, onTestFinished, test } from 'vitest';
import {
  applicationGameDetailSchema,
  applicationGameSummarySchema,
  kycRecordSchema,
} from '#src/contract/application.ts';
import { sniffImage } from '#src/rules/pictures.ts';
import { createSampleGames } from '#src/sample-application/game-data.ts';
import { type SampleApplicationOptions, startSampleApplication } from '#src/sample-application/start.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { loopback } from '#test/support/webhooks.ts';

const accessToken = 'sample-token';

const start = async (options: Partial<SampleApplicationOptions> = {}) => {
  const application = await startSampleApplication({ accessToken, ...options });
  onTestFinished(application.close);
  return application;
};

// biome-ignore lint/suspicious/noExplicitAny: data has any type, and the tests check it
type Answer = { ret_code: number; ret_msg: string; data: any };

const post = async (url: string, body: unknown, token = accessToken) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    ...((await response.json()) as Answer),
  };
};

test('lists every game once, over pages of any size, in one order', async () => {
  const { webhooks, games } = await start();
  for (const page_size of [7, 100]) {
    const ids: string[] = [];
    for (let page_num = 1; ; page_num += 1) {
      const { data } = await post(webhooks.query_game_list, { page_num, page_size });
      expect(data.total).toBe(300);
      for (const game of data.list) ids.push(applicationGameSummarySchema.parse(game).game_id);
      if (data.list.length === 0) break;
    }
    expect(ids).toEqual(games.all().map(({ game_id }) => game_id));
    expect(new Set(ids).size).toBe(300);
  }
});

test('applies the defaults of section 8 when a request omits the fields', async () => {
  const { webhooks } = await start();
  const { data } = await post(webhooks.query_game_list, {});
  expect(data.list).toHaveLength(20);
  expect(await post(webhooks.query_game_list, { page_num: 1, page_size: 20 })).toMatchObject({ data });
});

test.each([
  [{ page_num: 0 }, 'page_num'],
  [{ page_size: 101 }, 'page_size'],
  [{ page_size: '20' }, 'page_size'],
  [{ page_num: 1.5 }, 'page_num'],
  [[], 'the body'],
  ['{"page_num":', 'JSON'],
])('refuses the list request %j and says what is wrong with it', async (body, named) => {
  const { webhooks } = await start();
  const answer = await post(webhooks.query_game_list, body);
  expect(answer).toMatchObject({ status: 400, ret_code: 40001, data: null });
  expect(answer.ret_msg).toContain(named);
});

test('gives details that are valid and in many scripts, with some fields empty', async () => {
  const { webhooks, games } = await start();
  const all = games.all();
  for (const game of all.slice(0, 25)) {
    expect((await post(webhooks.query_game_detail, { game_id: game.game_id })).data).toEqual(game);
  }
  for (const game of all) expect(applicationGameDetailSchema.parse(game)).toEqual(game);
  for (const script of ['Han', 'Hiragana', 'Hangul', 'Arabic', 'Devanagari', 'Cyrillic', 'Latin']) {
    expect(all.some((game) => new RegExp(`\\p{Script=${script}}`, 'u').test(game.game_info))).toBe(true);
  }
  expect(all.some((game) => game.game_info === '')).toBe(true);
  expect(all.some((game) => game.game_store_video === '')).toBe(true);
  expect(all.some((game) => game.game_icon.length === 0)).toBe(true);
  expect(all.some((game) => game.game_store_pic.length === 0)).toBe(true);
});

test('returns null for an unknown game', async () => {
  const { webhooks } = await start();
  for (const game_id of ['nobody', '__proto__', '\u0000']) {
    expect(await post(webhooks.query_game_detail, { game_id })).toMatchObject({
      status: 200,
      ret_code: 0,
      data: null,
    });
  }
  expect(await post(webhooks.query_game_detail, { game_id: 7 })).toMatchObject({
    status: 400,
    ret_code: 40001,
  });
});

test('gives a developer record that is valid and plainly invented, or null', async () => {
  const { webhooks, games } = await start();
  const { data } = await post(webhooks.query_cp_kyc, {});
  expect(kycRecordSchema.parse(data)).toEqual(games.kyc);
  expect(data.cp_name).toContain('(Sample)');
  games.kyc = null;
  expect((await post(webhooks.query_cp_kyc, {})).data).toBeNull();
});

test('refuses every webhook without its token, and counts every call', async () => {
  const { webhooks, calls } = await start();
  for (const url of Object.values(webhooks)) {
    expect(await post(url, {}, 'another-token')).toMatchObject({ status: 401, ret_code: 40101, data: null });
    const bare = await fetch(url, { method: 'POST', body: '{}' });
    expect(bare.status).toBe(401);
  }
  expect(calls).toEqual({ query_game_list: 2, query_game_detail: 2, query_cp_kyc: 2 });
});

test('uses the envelope for wrong methods, wrong paths and endless bodies', async () => {
  const { url, webhooks } = await start();
  const get = await fetch(webhooks.query_game_list);
  expect([get.status, ((await get.json()) as { ret_code: number }).ret_code]).toEqual([405, 40501]);
  expect(await post(`${url}/nothing`, {})).toMatchObject({ status: 404, ret_code: 40401 });
  expect(await post(webhooks.query_cp_kyc, ' '.repeat(70_000))).toMatchObject({
    status: 413,
    ret_code: 41301,
  });
});

test('serves every picture and video that its games name', async () => {
  const { games } = await start({ games: 12 });
  for (const game of games.all()) {
    for (const address of [...game.game_icon, ...game.game_store_pic]) {
      const response = await fetch(address);
      const format = sniffImage(Buffer.from(await response.arrayBuffer()));
      expect([response.status, response.headers.get('content-type')]).toEqual([200, `image/${format}`]);
    }
    if (game.game_store_video === '') continue;
    const video = await fetch(game.game_store_video);
    expect(video.headers.get('content-type')).toBe('video/webm');
    expect(Buffer.from(await video.arrayBuffer()).readUInt32BE(0)).toBe(0x1a45dfa3);
  }
  expect(
    (await fetch(`${new URL(games.all()[0]?.game_store_pic[0] ?? '').origin}/media/nobody/icon-0.png`))
      .status,
  ).toBe(404);
});

test('serves a change of its games at once', async () => {
  const { webhooks, games } = await start({ games: 250 });
  const list = async () => (await post(webhooks.query_game_list, { page_num: 3, page_size: 100 })).data;
  const [first, second] = games.all();
  if (first === undefined || second === undefined) throw new Error('no games');
  games.update(first.game_id, { game_info: 'Changed.' });
  expect((await post(webhooks.query_game_detail, { game_id: first.game_id })).data.game_info).toBe(
    'Changed.',
  );
  const removed = games.remove(second.game_id);
  expect(await list()).toMatchObject({ total: 249 });
  expect((await post(webhooks.query_game_detail, { game_id: second.game_id })).data).toBeNull();
  games.add(removed);
  expect((await list()).list.at(-1).game_id).toBe(second.game_id);
  expect(games.all()).toHaveLength(250);
  expect(() => games.add(removed)).toThrow(RangeError);
  expect(() => games.remove('nobody')).toThrow(RangeError);
});

test('makes the same games of the same seed, and others of another', () => {
  const of = (seed: string) => createSampleGames({ games: 50, seed, baseUrl: 'http://a.example' });
  expect(of('a').all()).toEqual(of('a').all());
  expect(of('a').kyc).toEqual(of('a').kyc);
  expect(of('b').all()).not.toEqual(of('a').all());
});

test('makes a million games without keeping them in memory', () => {
  const games = createSampleGames({ games: 1_000_000, seed: 'big', baseUrl: 'http://a.example' });
  const [last] = games.page(1_000_000, 1);
  expect(last && games.get(last.game_id)).toEqual(last);
});

test('is read by our own client', async () => {
  const { webhooks, games } = await start({ latencyMs: 5 });
  const client = createWebhookClient({ egress: loopback });
  onTestFinished(() => client.close());
  const target = {
    application_id: 'sample',
    query_game_list_webhook: webhooks.query_game_list,
    query_game_detail_webhook: webhooks.query_game_detail,
    query_cp_kyc_webhook: webhooks.query_cp_kyc,
    accessToken,
  };
  const { signal } = new AbortController();
  const page = await client.queryGameList(target, { page_num: 2, page_size: 100 }, signal);
  expect(page.list).toHaveLength(100);
  const { game_id } = applicationGameSummarySchema.parse(page.list[0]);
  expect(await client.queryGameDetail(target, { game_id }, signal)).toEqual(games.get(game_id));
  expect(await client.queryCpKyc(target, signal)).toEqual(games.kyc);
});
