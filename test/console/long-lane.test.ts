// A lane in which one page of a search ends before the first match, or between two matches.
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { LANE_NAMES_COMPARED } from '#db/queries/lanes.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('a search through a long lane in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer');
    await addApplication(sql, 'app');
    const land = (names: readonly string[]) =>
      upsertGames(
        sql,
        'app',
        names.map((name) => fetchedGame({ game_id: name, game_name: name })),
      );
    await land(['kite 1']);
    for (let n = 0; n <= LANE_NAMES_COMPARED; n += 1_000)
      await land(Array.from({ length: 1_000 }, (_, each) => `boat ${n + each}`));
    await land(['kite 2']);
  });

  const LANE = '/review?lane=new&q=kite';
  const heading = { level: 1, exact: true } as const;

  test('the keys lead from one match to the next, past the names that one page compares', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', LANE);
    await page.getByText(`compares ${LANE_NAMES_COMPARED.toLocaleString('en')} names`).waitFor();
    await page.getByRole('link', { name: 'kite 1' }).click();
    await page.getByRole('heading', { ...heading, name: 'kite 1' }).waitFor();
    await page.getByRole('link', { name: 'Search further' }).waitFor();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await page.keyboard.press('j');
    await page.getByRole('link', { name: 'kite 2' }).click();
    await page.getByRole('heading', { ...heading, name: 'kite 2' }).waitFor();
    expect(await page.getByRole('link', { name: 'Search further' }).count()).toBe(0);
    await page.close();
  });

  test('after a decision the search goes on behind the decided game', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', LANE);
    await page.getByRole('link', { name: 'kite 1' }).click();
    await page.getByRole('heading', { ...heading, name: 'kite 1' }).waitFor();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await page.keyboard.press('p');
    await page.getByText('kite 1: passed.').waitFor();
    await page.getByRole('link', { name: 'kite 2' }).waitFor();
    await page.goto(`${served.url}${LANE}`);
    await page.getByText('No match so far.').waitFor();
    await page.getByRole('link', { name: 'Search further' }).click();
    await page.getByRole('link', { name: 'kite 2' }).waitFor();
    await page.close();
  });
});
