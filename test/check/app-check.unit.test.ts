import { expect, test } from 'vitest';
import { CASES } from '#src/check/check-application.ts';
import { accepts, isRight, kyc, list } from '#test/check/spoils.ts';
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
