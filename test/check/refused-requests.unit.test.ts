import { expect, test } from 'vitest';
import { check, type Json, type Spoil, startBroken, withOutcome } from '#test/support/checked-application.ts';

/** An application that refuses one request: the case that must fail, and no other. */
test.each<[name: string, refuses: (body: Json, operation: string) => boolean]>([
  ['list.defaults', (body, operation) => operation === 'query_game_list' && !('page_num' in body)],
  ['list.page-2', (body) => body.page_num === 2 && body.page_size === 2],
  ['list.page-size', (body) => body.page_num === 1 && body.page_size === 2],
  ['list.past-the-end', (body) => body.page_num === 1_000_000],
  ['list.total', (body) => body.page_num === 2 && body.page_size === 100],
  ['detail.listed-game', (body) => /2[45]$/.test(body.game_id)],
])('%s fails if its own request is refused', async (name, refuses) => {
  const refuse: Spoil = ({ body, operation }, response) => {
    if (refuses(body, operation)) response.json = { ret_code: 7, ret_msg: 'refused' };
    return undefined;
  };
  const { url } = await startBroken(refuse, 150);
  const results = await check(url);
  expect(withOutcome(results, 'failed')).toEqual([name]);
  expect(results.find((result) => result.name === name)?.problem).toBe('ret_code is 7, ret_msg "refused"');
});

test('a page after `total` rows that is refused fails list.total, if an empty page is not', async () => {
  const lie: Spoil = ({ body, operation }, response) => {
    if (operation !== 'query_game_list' || response.json.ret_code !== 0) return undefined;
    if (body.page_num === 2 && body.page_size === 100) response.json = { ret_code: 7, ret_msg: 'refused' };
    else response.json.data.total = 100;
    return undefined;
  };
  const { url } = await startBroken(lie, 150);
  expect(withOutcome(await check(url), 'failed')).toEqual(['list.total']);
});
