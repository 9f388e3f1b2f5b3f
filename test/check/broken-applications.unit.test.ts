import { expect, test } from 'vitest';
import { CASES } from '#src/check/check-application.ts';
import { accepts, detail, isRight, kyc, list } from '#test/check/spoils.ts';
import { check, type Json, type Spoil, startBroken, withOutcome } from '#test/support/checked-application.ts';

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
    'detail.constant-texts',
    detail((data) => {
      answers += 1;
      data.game_info = `${answers} players are online.`;
    }),
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

test('every case but two has a broken application above; planted-mistakes.unit.test.ts has theirs', () => {
  const broken = new Set(BROKEN.map(([name]) => name));
  expect(CASES.map(({ name }) => name).filter((name) => !broken.has(name))).toEqual([
    'latency',
    'detail.at-once',
  ]);
});
