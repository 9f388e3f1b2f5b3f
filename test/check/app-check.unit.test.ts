import { expect, test } from 'vitest';
import { CASES } from '#src/check/check-application.ts';
import {
  check,
  type Json,
  type Spoil,
  startBroken,
  startSample,
  withOutcome,
} from '#test/support/checked-application.ts';
import { aServer, TOKEN } from '#test/support/webhooks.ts';

test('no case passes against a port that is closed, or a server that never answers', async () => {
  expect(withOutcome(await check('http://127.0.0.1:9'), 'passed')).toEqual([]);
  const { url } = await aServer((request) => request.resume());
  const results = await check(url, TOKEN, { callTimeoutMs: 300 });
  expect(withOutcome(results, 'passed')).toEqual([]);
  expect(withOutcome(results, 'failed')).toEqual(['list.envelope', 'detail.envelope', 'kyc.envelope']);
});

test('the sample application passes the whole check, and no case is skipped', async () => {
  const results = await check((await startSample()).url);
  expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect(results.map(({ name }) => name)).toEqual(CASES.map(({ name }) => name));
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
});

test('an application without a game passes, too', async () => {
  const results = await check((await startSample(0)).url);
  expect(withOutcome(results, 'failed')).toEqual([]);
});

test('an application of many pages passes, too', async () => {
  const results = await check((await startSample(2_345)).url);
  expect(withOutcome(results, 'failed')).toEqual([]);
});

const isRight = (bearer: string) => bearer === `Bearer ${TOKEN}`;
const list =
  (change: (data: Json, body: Json) => unknown): Spoil =>
  ({ operation, body }, { json }) => {
    if (operation === 'query_game_list' && json.ret_code === 0) change(json.data, body);
    return undefined;
  };
const detail =
  (change: (data: Json, json: Json) => unknown): Spoil =>
  ({ operation }, { json }) => {
    if (operation === 'query_game_detail' && json.data !== null) change(json.data, json);
    return undefined;
  };
const kyc =
  (change: (data: Json, json: Json) => unknown): Spoil =>
  ({ operation }, { json }) => {
    if (operation === 'query_cp_kyc' && json.data !== null) change(json.data, json);
    return undefined;
  };
const accepts =
  (operation: string, when: (bearer: string) => boolean, data: unknown): Spoil =>
  (call, response) => {
    if (call.operation !== operation || !when(call.bearer)) return undefined;
    response.status = 200;
    response.json = { ret_code: 0, ret_msg: 'success', data };
    return undefined;
  };
const wrong = (bearer: string) => bearer !== '' && !isRight(bearer);
const none = (bearer: string) => bearer === '';
const noList = { total: 0, list: [] };

let answers = 0;
/** Gives an address another parameter at each answer. */
const move = (game: Json, field: string, address = game?.[field]) => {
  answers += 1;
  if (game !== undefined) game[field] = `${address}?t=${answers}`;
};

/** Broken in one way each: the case that must fail, and no other. */
const BROKEN: [name: string, spoil: Spoil][] = [
  [
    'list.envelope',
    ({ operation, bearer }) => (operation === 'query_game_list' && isRight(bearer) ? '<html>' : undefined),
  ],
  ['detail.envelope', detail((_, json) => Object.assign(json, { ret_code: '0' }))],
  ['kyc.envelope', kyc((_, json) => Reflect.deleteProperty(json, 'data'))],
  ['success.ret-msg', detail((_, json) => Object.assign(json, { ret_msg: 'OK' }))],
  ['list.token-required', accepts('query_game_list', none, noList)],
  ['list.wrong-token-refused', accepts('query_game_list', wrong, noList)],
  ['detail.token-required', accepts('query_game_detail', none, null)],
  ['detail.wrong-token-refused', accepts('query_game_detail', wrong, null)],
  ['kyc.token-required', accepts('query_cp_kyc', none, null)],
  ['kyc.wrong-token-refused', accepts('query_cp_kyc', wrong, null)],
  ['errors.envelope', ({ bearer }) => (wrong(bearer) ? 'go away' : undefined)],
  ['list.shape', list((data) => Object.assign(data, { total: '30' }))],
  ['list.field-types', list((data) => Object.assign(data.list[3] ?? {}, { game_name: 12 }))],
  ['list.empty-not-null', list((data) => Object.assign(data.list[3] ?? {}, { game_icon: null }))],
  ['list.urls', list((data) => Object.assign(data.list[3] ?? {}, { game_icon: '/icons/3.png' }))],
  ['list.limits', list((data) => Object.assign(data.list[3] ?? {}, { game_name: 'x'.repeat(513) }))],
  ['list.limits', list((data) => Object.assign(data.list[3] ?? {}, { game_id: '' }))],
  ['list.page-size', list((data, { page_size }) => page_size === 2 && data.list.splice(1, 1))],
  [
    'list.page-size-maximum',
    ({ operation, body }, response) => {
      if (operation !== 'query_game_list' || body.page_size !== 1_000) return undefined;
      response.json = { ret_code: 0, ret_msg: 'success', data: { total: 30, list: Array(101).fill({}) } };
      return undefined;
    },
  ],
  [
    'list.page-2',
    (() => {
      let first: Json[] = [];
      return list((data, { page_num, page_size }) => {
        if (page_size === 2 && page_num === 1) first = data.list;
        if (page_size === 2 && page_num === 2) data.list = first;
      });
    })(),
  ],
  ['list.defaults', list((data, { page_num }) => page_num === undefined && data.list.pop())],
  // Page 0 has what all later pages lack.
  [
    'list.page-1',
    ({ operation, body }, response) => {
      if (operation !== 'query_game_list' || body.page_size !== 100) return undefined;
      if (body.page_num === 1 && response.json.data !== null) response.json.data.list.shift();
      const list = [{ game_id: 'g', game_name: 'Game', game_icon: '' }];
      if (body.page_num === 0) response.json = { ret_code: 0, ret_msg: 'success', data: { total: 30, list } };
      return undefined;
    },
  ],
  ['list.past-the-end', list((data) => data.list.length === 0 && Object.assign(data, { list: null }))],
  ['list.total', list((data) => Object.assign(data, { total: data.total + 1 }))],
  [
    'list.distinct',
    list((data, { page_size }) => page_size === 100 && data.list[9] && data.list.splice(9, 1, data.list[8])),
  ],
  [
    'detail.listed-game',
    detail((data, json) => /5$/.test(data.game_id) && Object.assign(json, { data: null })),
  ],
  ['detail.same-game', detail((data) => Object.assign(data, { game_id: 'another' }))],
  ['detail.as-listed', detail((data) => Object.assign(data, { game_name: `${data.game_name} 2` }))],
  ['detail.field-types', detail((data) => Object.assign(data, { game_icon: data.game_icon[0] ?? '' }))],
  ['detail.field-types', detail((data) => Reflect.deleteProperty(data, 'game_info'))],
  ['detail.empty-not-null', detail((data) => Object.assign(data, { game_store_pic: null }))],
  ['detail.urls', detail((data) => Object.assign(data, { game_store_video: 'ftp://cdn.example/film' }))],
  ['detail.limits', detail((data) => Object.assign(data, { game_info: 'a\u0000' }))],
  [
    'detail.unknown-game',
    ({ operation, bearer }, response) => {
      if (operation !== 'query_game_detail' || !isRight(bearer) || response.json.data !== null)
        return undefined;
      response.json = { ret_code: 40401, ret_msg: 'no such game', data: null };
      return undefined;
    },
  ],
  ['kyc.field-types', kyc((data) => Object.assign(data, { tax_id: 12345678 }))],
  ['kyc.empty-not-null', kyc((data) => Object.assign(data, { cp_short_name: null }))],
  ['kyc.limits', kyc((data) => Object.assign(data, { cp_id: '' }))],
  ['kyc.limits', kyc((data) => Object.assign(data, { legal_entity: 'x'.repeat(3_000) }))],
  ['list.constant-addresses', list((data) => move(data.list[0], 'game_icon'))],
  [
    'detail.constant-addresses',
    detail((data) => move(data, 'game_store_video', 'https://cdn.example/film.mp4')),
  ],
  [
    'detail.visible-pictures',
    detail((data) => Object.assign(data, { game_store_pic: ['https://10.1.2.3/1.png'] })),
  ],
  [
    'detail.lasting-addresses',
    detail((data) => {
      data.game_store_video = 'https://cdn.example/film.mp4?AccessKeyId=k&Expires=1532779451&Signature=s';
    }),
  ],
];

test.each(BROKEN)('an application that breaks %s fails that case alone', async (name, spoil) => {
  const { url } = await startBroken(spoil);
  const results = await check(url);
  expect(withOutcome(results, 'failed')).toEqual([name]);
  const found = results.find((result) => result.name === name);
  expect(found?.sent).toMatch(
    /^POST query_(game_list|game_detail|cp_kyc) \{.*\} with (its|a wrong|no) token$/,
  );
  expect(found?.came).not.toBe('');
  expect(found?.problem).not.toBe('');
});

test('the limit of a KYC field is in the text of its case', async () => {
  const found = CASES.find(({ name }) => name === 'kyc.limits');
  expect(found?.rule).toContain('2,048 in every other text');
});

test('a webhook that refuses every token is not tested for wrong ones', async () => {
  const { url } = await startBroken(({ operation }, response) => {
    if (operation === 'query_cp_kyc') response.json = { ret_code: 40101, ret_msg: 'no', data: null };
    return undefined;
  });
  const results = await check(url);
  expect(withOutcome(results, 'failed')).toEqual(['kyc.envelope']);
  expect(withOutcome(results, 'skipped')).toEqual(
    expect.arrayContaining(['kyc.token-required', 'kyc.wrong-token-refused']),
  );
});

test.each(['query_game_list', 'query_game_detail', 'query_cp_kyc'])(
  'a refusal of %s with the data in it fails, one with other data passes',
  async (operation) => {
    const prefix = operation.split('_').at(-1);
    const rightData = new Map<string, Json>();
    const refuseWith = (dataOf: (body: Json) => Json) =>
      startBroken((call, { json }) => {
        if (call.operation !== operation) return undefined;
        const key = JSON.stringify(call.body);
        if (isRight(call.bearer)) rightData.set(key, json.data);
        else json.data = dataOf(rightData.get(key));
        return undefined;
      });
    const leaking = await refuseWith((data) => data);
    expect(withOutcome(await check(leaking.url), 'failed')).toEqual([
      `${prefix}.token-required`,
      `${prefix}.wrong-token-refused`,
    ]);
    const explaining = await refuseWith(() => ({ total: 0, list: [], hint: 'Send the token.' }));
    expect(withOutcome(await check(explaining.url), 'failed')).toEqual([]);
  },
);

test('the details of sixty games are spread over the page, in no step that rows of one kind could have', async () => {
  const listed: string[] = [];
  const fetched = new Set<string>();
  const { url } = await startBroken(({ operation, body }, { json }) => {
    if (operation === 'query_game_list' && body.page_size === 100 && body.page_num === 1 && json.data)
      listed.push(...json.data.list.map((row: Json) => row.game_id));
    if (operation === 'query_game_detail') fetched.add(body.game_id);
    return undefined;
  }, 60);
  await check(url);
  const places = [...fetched].map((id) => listed.indexOf(id)).filter((place) => place >= 0);
  expect(places).toHaveLength(10);
  expect(Math.max(...places)).toBeGreaterThan(54);
  for (const every of [2, 3, 4])
    expect(new Set(places.map((place) => place % every)).size, `of every ${every} rows each`).toBe(every);
});

test('an application with a page limit of its own passes, too', async () => {
  let all: Json[] = [];
  const { url } = await startBroken(
    list((data, { page_num, page_size }) => {
      if (page_size !== 100) return;
      if (page_num === 1) all = data.list;
      data.list = all.slice((page_num - 1) * 30, page_num * 30);
    }),
    80,
  );
  expect(withOutcome(await check(url), 'failed')).toEqual([]);
});

test('every case but two has a broken application above; planted-mistakes.unit.test.ts has theirs', () => {
  const broken = new Set(BROKEN.map(([name]) => name));
  expect(CASES.map(({ name }) => name).filter((name) => !broken.has(name))).toEqual([
    'latency',
    'detail.at-once',
  ]);
});

test('neither the token nor a value of the KYC record is in a report, however the responses are broken', async () => {
  const spoils: Spoil[] = [
    kyc((data) => Object.assign(data, { extra: data.id_number })),
    kyc((data, json) => Object.assign(json, { ret_msg: data.id_number, data: { ...data, tax_id: null } })),
    kyc((data, json) => Object.assign(json, { data: [data] })),
    kyc((data, json) => Object.assign(json, { data: data.id_number })),
    kyc((data, json) => Object.assign(json, { ret_code: 1, ret_msg: data.corporate_account })),
    ({ operation }, { json }) => (operation === 'query_cp_kyc' ? `${JSON.stringify(json)}}` : undefined),
    accepts('query_game_list', () => true, { total: TOKEN, list: [TOKEN] }),
    (_, response) => {
      response.json.ret_code = TOKEN;
      return undefined;
    },
  ];
  for (const spoil of spoils) {
    const { url, sample } = await startBroken(spoil);
    const report = JSON.stringify(await check(url));
    expect(report).not.toContain(TOKEN);
    for (const [field, value] of Object.entries(sample.games.kyc ?? {})) {
      if (field !== 'id_type') expect([field, report.includes(value)]).toEqual([field, false]);
      const parts = [value.slice(0, Math.min(4, value.length / 4)), value.slice(-4)];
      for (const part of parts)
        expect([field, report.includes(`${part}••••`), report.includes(`••••${part}`)]).toEqual([
          field,
          false,
          false,
        ]);
    }
  }
});

test('an icon that is in the list alone is a note: the platform shows those of the detail', async () => {
  const small = list((data) => {
    for (const game of data.list) game.game_icon = 'https://cdn.example/small.png';
  });
  const results = await check((await startBroken(small, 2)).url);
  expect(withOutcome(results, 'failed')).toEqual([]);
  expect(results.find(({ name }) => name === 'detail.as-listed')?.note).toMatch(
    /^the icon of the list is none of game_icon in the detail, which players see: 2 of 2 games \(/,
  );
});

test('a call that the platform refuses or ends cites a rule of the platform, and no section of the interface document', async () => {
  const [first] = await check('http://10.0.0.1');
  expect(first).toMatchObject({
    ...{ name: 'list.envelope', outcome: 'failed', section: null },
    rule: 'The platform calls public addresses by https; its operator may allow others.',
  });
  expect(first).not.toHaveProperty('quote');
  const [unread] = await check('http://127.0.0.1:9');
  expect(unread).toMatchObject({ name: 'list.envelope', section: '4', quote: expect.any(String) });
});

test('an application that is not there fails the three envelopes, and the rest is skipped', async () => {
  const results = await check('http://127.0.0.1:9');
  expect(withOutcome(results, 'failed')).toEqual(['list.envelope', 'detail.envelope', 'kyc.envelope']);
  expect(results[0]).toMatchObject({ came: expect.stringMatching(/^connect_failed: /) });
});
