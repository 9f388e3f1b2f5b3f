import { expect, test } from 'vitest';
import { OPERATOR_BODY_MAX_BYTES } from '#src/api/wire.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';

const api = useOperatorApi();

const times = (count: number, text: string): string => Array(count).fill(text).join(',');
const keys = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',');

// A token that may only look stopped the API for half a minute, and was answered megabytes.
test.each([
  ['operator.add', `{"roles":[${times(OPERATOR_BODY_MAX_BYTES / 2 - 50, '1')}]}`, 'more than 100000 keys'],
  ['game.overturn', `{"seen_pictures":{${keys(300_000)}}}`, 'more than 100000 keys'],
  ['game.list', `{"filter":${'['.repeat(1_000)}${']'.repeat(1_000)}}`, 'deeper than 32 levels'],
  ['operator.roles', `{"roles":[${times(49_000, '{}')}]}`, 'roles must be each role once'],
  ['run.accept_withdrawals', `{"game_ids":[${times(90_000, '1')}]}`, 'game_ids must be at most 10000'],
  ['approval.request', `{"kind":"withdrawals","game_ids":[${times(90_000, '1')}]}`, 'must be at most 10000'],
  ['game.overturn', `{"seen_pictures":{${keys(49_000)}}}`, 'seen_pictures must be a SHA-256'],
  [
    'game.list',
    `{"filter":{${keys(49_000)}}}`,
    'filter has no field k0, k1, k2, k3, k4 and 48995 more (fields: ',
  ],
  ['game.pass', `{"games":[${times(1_000, '{}')}]}`, 'games.9.game_id'],
])('a body of %s with far too many values is refused in a few words', async (name, body, words) => {
  const { token } = await api.addToken('vera', 'viewer');
  const answer = await api.call(token, name, body);
  expect(answer.status).toBe(400);
  expect(answer.body.ret_msg).toContain(words);
  expect(answer.body.ret_msg.length).toBeLessThan(2_000);
});
