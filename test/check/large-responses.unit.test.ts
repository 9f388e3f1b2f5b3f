import { expect, test } from 'vitest';
import { check, startBroken } from '#test/support/checked-application.ts';

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
