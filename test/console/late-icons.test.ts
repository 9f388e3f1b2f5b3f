// Icons that arrive after their page: they take the place of the letters, and disturb nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  addTestOperator,
  signIn,
  signInPage,
  startTestConsole,
  type TestConsole,
} from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('icons that are being fetched, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  let served: TestConsole;
  let game_id = '';

  beforeAll(async () => {
    const { sql } = database;
    served = await startTestConsole(database);
    await addTestOperator(sql, 'olga', 'reviewer');
    await addApplication(sql, 'app');
    await upsertGames(sql, 'app', [
      ...['kite', 'boat', 'tram'].map((id) =>
        fetchedGame({ game_id: id, game_name: id, game_icon: [`https://cdn.example/${id}-icon.png`] }),
      ),
      fetchedGame({ game_id: 'bare', game_name: 'bare', game_icon: [] }),
    ]);
    const [kite] = await sql<
      { game_id: string }[]
    >`select game_id from games where application_game_id = 'kite'`;
    game_id = kite?.game_id ?? '';
  });
  afterAll(async () => {
    await served?.stop();
  });

  test('on each page the icon takes the place of the letter; selection, focus and text stay', async () => {
    const pages = await Promise.all(
      ['/review', '/games', `/games/${game_id}`].map(async (path) => {
        const context = await browser.newContext();
        const page = await context.newPage();
        const errors = collectErrors(page);
        await signInPage(page, served.url, 'olga', path);
        return { path, page, errors };
      }),
    );
    const [review] = pages;
    await review?.page.getByLabel('Select kite').check();
    await review?.page.getByRole('searchbox').fill('what I type');
    for (const { page } of pages) await page.locator('.picture', { hasText: 'K' }).waitFor();

    const pictures = openPictures(database.sql, ['app']);
    await pictures.show('https://cdn.example/kite-icon.png', 1);
    await pictures.fail('https://cdn.example/boat-icon.png');
    for (const { page } of pages) await page.locator(`#icon-${game_id} img`).waitFor();
    expect(await review?.page.getByLabel('Select kite').isChecked()).toBe(true);
    expect(await review?.page.locator('input[type="search"]:focus').inputValue()).toBe('what I type');
    // The second one is requested on, though the first has arrived. A failed one keeps its letter.
    await pictures.show('https://cdn.example/tram-icon.png', 2);
    for (const { page } of pages.slice(0, 2)) {
      await expect.poll(() => page.locator('.picture img').count()).toBe(2);
      await page.locator('[hx-get^="/icons"]').waitFor({ state: 'detached' });
      await page.locator('.picture', { hasText: 'B' }).first().waitFor();
    }
    pictures.close();
    for (const { page, errors } of pages) {
      expect(errors).toEqual([]);
      await page.context().close();
    }
  });

  test('a page stops requesting an icon that never comes', async () => {
    await database.sql`delete from pictures`;
    const cookie = await signIn(served.url, 'olga');
    const get = async (polls: string) =>
      (await fetch(`${served.url}/icons?games=${game_id}&polls=${polls}`, { headers: { cookie } })).text();
    expect(await get('1')).toContain('load delay:1s');
    expect(await get('20')).toContain('load delay:15s');
    for (const polls of ['60', 'x', '-1']) expect(await get(polls)).toBe('<div hidden></div>');
  });
});
