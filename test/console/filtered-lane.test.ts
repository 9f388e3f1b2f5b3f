// What an operator chose stays: the filters of the lane from game to game, and the selection with its texts.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { transact } from '#db/transact.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const FILTERED = '/review?lane=new&application=app-1&q=kite';

describe.runIf(hasBrowser())('a filtered lane in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
    for (const id of ['app-1', 'app-2']) await addApplication(database.sql, id);
  });

  /** Two kites and a boat of one application between those of another. @returns the filtered lane */
  const openLane = async (): Promise<{ page: Page; errors: string[] }> => {
    // A page of the test before may still be read: Postgres ends one of two that wait for each other.
    await transact(database.sql, (tx) => tx`truncate games, game_revisions, game_audits cascade`);
    for (const name of ['kite 0', 'boat 0', 'kite 1'])
      for (const id of ['app-2', 'app-1'])
        await upsertGames(database.sql, id, [
          fetchedGame({ game_id: `${id} ${name}`, game_name: `${id} ${name}` }),
        ]);
    const page = await browser.newPage();
    const errors = collectErrors(page);
    await signInPage(page, served.url, 'olga', FILTERED);
    return { page, errors };
  };
  const heading = async (page: Page, name: string) => {
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
  };
  const focusedReason = (page: Page) => page.locator('input[name="reason"]:focus').first().waitFor();
  const cards = (page: Page) => page.locator('.game-card .name').allTextContents();
  const expectFiltered = (page: Page) => {
    const { pathname, search } = new URL(page.url());
    expect(pathname + search).toBe(FILTERED);
  };

  test('a filter is cleared in one step, in the same lane; a search that finds nothing leads to all games', async () => {
    const { page, errors } = await openLane();
    await page.goto(new URL('/review?lane=changed&q=nothing+like+it', page.url()).href);
    expect(await page.getByRole('link', { name: 'Search all games' }).getAttribute('href')).toBe(
      '/games?q=nothing+like+it',
    );
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.waitForURL((url) => url.pathname + url.search === '/review?lane=changed');
    expect(await page.getByRole('link', { name: 'Clear' }).count()).toBe(0);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('decisions, undo and the way back stay among the games of the filters', async () => {
    const { page, errors } = await openLane();
    expect(await cards(page)).toEqual(['app-1 kite 0', 'app-1 kite 1']);
    await page.locator('.game-card .name').first().click();
    await heading(page, 'app-1 kite 0');
    await page.keyboard.press('j');
    await heading(page, 'app-1 kite 1');
    await page.keyboard.press('k');
    await heading(page, 'app-1 kite 0');
    await page.keyboard.press('p');
    await heading(page, 'app-1 kite 1');
    await page.keyboard.press('u');
    await heading(page, 'app-1 kite 0');
    await page.keyboard.press('j');
    await heading(page, 'app-1 kite 1');
    await page.keyboard.press('p');
    await page.getByText('app-1 kite 1: passed.').waitFor();
    expectFiltered(page);
    expect(await cards(page)).toEqual(['app-1 kite 0']);

    await page.getByLabel('Select app-1 kite 0').check();
    await page.keyboard.press('p');
    await page.getByText('No game of this lane matches.').waitFor();
    expectFiltered(page);
    await page.close();
    expect(errors).toEqual([]);
  });

  test('a rejection without a reason, or of no game, is not sent, and what was chosen and typed stays', async () => {
    const { page } = await openLane();
    const posted: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posted.push(request.url());
    });
    const all = page.getByLabel('Select all');
    await page.getByLabel('Select app-1 kite 0').check();
    await page.locator('[data-select-all]:indeterminate').waitFor();
    await page.getByLabel('Select app-1 kite 1').check();
    await page.locator('[data-select-all]:checked').waitFor();
    await page.keyboard.press('r');
    await page.getByLabel('Text for the developer').fill('Both are one game.');
    // The button says how many games it decides on.
    const reject = page.getByRole('button', { name: 'Reject 2 games', exact: true });
    await page.getByRole('button', { name: 'Pass 2 games' }).waitFor();
    await reject.click();
    await focusedReason(page);
    await page.keyboard.press('p');
    await page.keyboard.press('6');
    await all.uncheck();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('Select at least one game.').waitFor();
    expect(posted).toEqual([]);
    await all.check();
    await reject.click();
    await page.getByRole('button', { name: 'Reject all 2' }).click();
    await page.getByText('2 rejected.').waitFor();
    await page.getByText('No game of this lane matches.').waitFor();
    expectFiltered(page);
    const texts = await database.sql<{ text: string }[]>`select text from game_audits`;
    expect(texts.map(({ text }) => text)).toEqual(['Both are one game.', 'Both are one game.']);
    await page.close();
  });

  test('back from decided games selects none of the games that are in their places now', async () => {
    const { page } = await openLane();
    await page.goto(`${served.url}/review`);
    for (const key of ['j', 'x', 'j', 'x', 'p']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'Pass all 2' }).click();
    await page.getByText('2 passed.').waitFor();
    // The answer to the form is not requested again.
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor();
    expect(await cards(page)).toHaveLength(4);
    await page.goBack();
    await page.waitForURL(`${served.url}/review`);
    await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor();
    await page.waitForLoadState();
    expect(await cards(page)).toHaveLength(4);
    expect(await page.locator('input:checked').count()).toBe(0);
    await page.getByText('0 selected').waitFor();
    await page.close();
  });

  test('back from a filtered lane, the filters are those of the games below them', async () => {
    const { page } = await openLane();
    await page.goto(`${served.url}/review`);
    await page.getByRole('combobox', { name: 'Application' }).pressSequentially('app-2');
    await page.getByRole('searchbox').fill('boat');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/q=boat/);
    await page.goBack();
    await page.waitForURL(`${served.url}/review`);
    await page.waitForLoadState();
    expect(await cards(page)).toHaveLength(6);
    expect(await page.getByRole('combobox', { name: 'Application' }).inputValue()).toBe('');
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.close();
  });

  test('a click on Reject opens its fields and closes them; the key moves the focus into them again', async () => {
    const { page } = await openLane();
    const summary = page.locator('#rejection > summary');
    const reason = page.getByRole('radio').first();
    await page.locator('input[name="game"]').first().check();
    await summary.click();
    await reason.waitFor();
    await summary.click();
    await reason.waitFor({ state: 'hidden' });
    await page.keyboard.press('r');
    await page.keyboard.press('1');
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.locator('input[name="reason"]:focus').waitFor();
    await page.keyboard.press('Escape');
    await reason.waitFor({ state: 'hidden' });
    await page.close();
  });
});
