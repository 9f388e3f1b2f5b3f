// Cards of a lane say which names another application has too, after the page is shown.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { listSharedNames } from '#db/queries/similar-names.ts';
import { hasBrowser, LIST_SHIFTS, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openAs } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const land = async (application_id: string, names: readonly string[]): Promise<Map<string, string>> => {
  const games = names.map((name) => fetchedGame({ game_id: name, game_name: name }));
  await upsertGames(database.sql, application_id, games);
  return new Map(games.map(({ game_id, game_name }) => [game_id, game_name]));
};

const MINE = ['Harbour Hollow', 'Kite', 'まほうのパズル', 'Velvet Ox 2', 'Velvet Ox 3', 'Boat', '2048'];
const THEIRS = ['hollow harbour 3', 'まほうのパズル 2', 'velvet ox', 'Gone Boat', '2048'];
const SHARED = ['Harbour Hollow', 'まほうのパズル', 'Velvet Ox 2', 'Velvet Ox 3'];
let mine: Map<string, string>;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  for (const id of ['mine', 'theirs']) await addApplication(database.sql, id);
  mine = await land('mine', MINE);
  await land('theirs', THEIRS);
  await database.sql`update games set withdrawn_at = now() where game_name = 'Gone Boat'`;
});

test('a name is shared if another application has its words, in any order and script; common words alone are not looked up', async () => {
  const sql = openAs('console', database.databaseUrl);
  const find = async () => (await listSharedNames(sql, [...mine.keys()])).map((id) => mine.get(id)).sort();
  expect(await find()).toEqual(SHARED.toSorted());
  // As many games have the word as a lookup may not read.
  const many = Array.from({ length: 4_000 }, (_, n) =>
    fetchedGame({ game_id: `k${n}`, game_name: `Kite ${n}` }),
  );
  await upsertGames(database.sql, 'theirs', many);
  expect(await find()).toContain('Kite');
  await database.sql`analyze games`;
  expect(await find()).toEqual(SHARED.toSorted());
  await database.sql`delete from games where application_game_id like 'k%'`;
  await sql.end();
});

test('a lookup that takes long is given up: an application may have many games of the same words', async () => {
  const sql = database.as('console');
  const given = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const held = database.sql.begin(async (tx) => {
    await tx`lock games`;
    locked.resolve();
    await Promise.race([given.promise, sleep(10_000)]);
  });
  await locked.promise;
  expect(await listSharedNames(sql, [...mine.keys()])).toEqual([]);
  given.resolve();
  await held;
});

describe.runIf(hasBrowser())('in Chromium', () => {
  const browser = useBrowser();
  const served = useTestConsole(database);

  test.for(['/review', '/review?view=gallery'])(
    'the cards of %s have the mark, and nothing moves',
    async (path) => {
      const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
      const page = await context.newPage();
      await page.addInitScript(LIST_SHIFTS);
      await signInPage(page, served.url, 'olga', path);
      const marked = page.locator('.game-card', { hasText: 'similar name elsewhere' });
      await expect.poll(() => marked.count()).toBeGreaterThanOrEqual(SHARED.length);
      const names = await marked.locator('.name').allTextContents();
      expect(names).toEqual(expect.arrayContaining(SHARED));
      for (const name of ['Kite', 'Boat', '2048']) expect(names).not.toContain(name);
      expect(await page.evaluate('shifts')).toEqual([]);
      await context.close();
    },
  );
});
