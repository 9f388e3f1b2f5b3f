import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, anOpenRun, fetchedGame, KIM } from '#test/support/factories.ts';
import { findViolations } from '#test/support/inspect-page.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** Names that show nothing. */
const BLANK = ['', ' \u3000\t', '\u200b\u2060\u00ad', '\u2800\u3164'];

describe.runIf(hasBrowser())('games without a visible name, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let page: Page;
  let run_id: string;
  let batch_id: string;

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'acme');
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    const games = BLANK.map((game_name, n) => fetchedGame({ game_id: `g-${n}`, game_name }));
    const decided = BLANK.map((game_name, n) => fetchedGame({ game_id: `d-${n}`, game_name }));
    await upsertGames(sql, 'acme', [...games, ...decided]);
    const pairs = decided.map(({ game_id }) => ({ game_id, revision: 1 }));
    ({ batch_id = '' } = (await decideGames(sql, pairs, { audit_status: 'passed' }, KIM)) as {
      batch_id: string;
    });
    const run = await anOpenRun(sql, 'acme');
    await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
    run_id = run.run_id;
    await sql`insert into vanishing_games (run_id, game_id) select ${run_id}, game_id from games`;
    page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await signInPage(page, served.url, 'olga');
  });

  /** The links of the page to games: what they show, and whether one can click on them. */
  const expectLinks = async (path: string, selector: string, count: number) => {
    await page.goto(served.url + path);
    for (const former of await page.locator('#events .unchanged > summary').all()) await former.click();
    const links = page.locator(selector);
    expect([path, await links.count()]).toEqual([path, count]);
    for (const link of await links.all()) {
      expect([path, (await link.textContent())?.trim()]).toEqual([path, '(no name)']);
      const box = await link.boundingBox();
      expect(box?.height, path).toBeGreaterThan(10);
      expect(box?.width, path).toBeGreaterThan(40);
    }
    expect([path, ...(await findViolations(page))]).toEqual([path]);
  };

  test('the pages of the console show a placeholder', async () => {
    await expectLinks('/review', '.game-card .name', BLANK.length);
    await expect(page.getByLabel('Select (no name)').count()).resolves.toBe(BLANK.length);
    await expectLinks('/games', 'td a[href^="/games/"]', 2 * BLANK.length);
    await expectLinks(`/batches/${batch_id}`, 'td a[href^="/games/"]', BLANK.length);
    await expectLinks(`/runs/${run_id}`, '.game-card .name', 2 * BLANK.length);
    await expectLinks('/applications/acme', '#events td a[href^="/games/"]', BLANK.length);
  });

  test('the pages of the portal show a placeholder', async () => {
    const { token } = await addToken(database.sql, 'acme');
    await signInDeveloper(page, served.url, token);
    await expectLinks('/portal/games', 'td a', BLANK.length);
    await expectLinks('/portal/events', 'td a', BLANK.length);
  });
});
