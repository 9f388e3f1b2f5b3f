import { expect, test } from 'vitest';
import { REFRESH_PATH } from '#src/contract/events.ts';
import { post, useApi } from '#test/support/api.ts';

const served = useApi();

test('game.refresh reads a hundred ids of the greatest length, and refuses a body above 64 KiB', async () => {
  const { token } = await served.addApplicationWithGames(1);
  const ping = (game_ids: unknown) => post(served.api.url, REFRESH_PATH, token, { game_ids });
  const longest = Array.from({ length: 100 }, (_, index) => String(index).padStart(512, 'g'));
  expect(await ping(longest)).toMatchObject({ status: 200, body: { ret_code: 0, data: { accepted: 100 } } });
  expect(await ping(['g'.repeat(64 * 1_024)])).toMatchObject({ status: 413, body: { ret_code: 41301 } });
});

test('game.refresh names what is wrong with an id', async () => {
  const { token } = await served.addApplicationWithGames(1);
  for (const [id, ret_msg] of [
    ['', 'game_ids.0 must not be empty'],
    [7, 'game_ids.0 must be a string'],
    [null, 'game_ids.0 must be a string'],
    ['g'.repeat(513), 'game_ids.0 is longer than 512 characters'],
  ])
    expect(await post(served.api.url, REFRESH_PATH, token, { game_ids: [id] })).toMatchObject({
      status: 400,
      body: { ret_code: 40001, ret_msg },
    });
});
