import { expect, test } from 'vitest';
import { check, startBroken } from '#test/support/checked-application.ts';
import { watchTurns } from '#test/support/longest-turn.ts';

const MIB = 1024 * 1024;

test('of an application whose pages are as large as they may be, a check keeps 16 MiB and skips the rest', async () => {
  let sent = 0;
  const pad = 'x'.repeat(3.9 * MIB);
  const { url } = await startBroken(({ operation, body }, reply) => {
    if (operation !== 'query_game_list' || reply.status !== 200) return undefined;
    sent += pad.length;
    return JSON.stringify({
      ...reply.json,
      data: { total: 1_000_000, list: [{ game_id: `g-${body.page_num}`, pad }] },
    });
  });
  const results = await check(url);
  expect(sent).toBeLessThan(21 * MIB);
  const problem = 'the responses so far have more than 16 MiB together';
  expect(results).toContainEqual(
    expect.objectContaining({ name: 'list.total', outcome: 'skipped', problem }),
  );
});

test('of details with tens of thousands of names, none of them right, a check blocks no turn for seconds', async () => {
  const data = Object.fromEntries(Array.from({ length: 45_000 }, (_, n) => [`game_nam${n}`, n]));
  const { url } = await startBroken(({ operation }, reply) =>
    operation === 'query_game_detail' ? JSON.stringify({ ...reply.json, data }) : undefined,
  );
  const turns = watchTurns();
  const results = await check(url);
  turns.stop();
  expect(results).toContainEqual(
    expect.objectContaining({
      name: 'detail.field-types',
      outcome: 'failed',
      problem: expect.stringContaining('game_id is missing'),
    }),
  );
  expect(turns.longestMs()).toBeLessThan(1_000);
});
