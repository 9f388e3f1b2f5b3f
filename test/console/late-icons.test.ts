// Icons that arrive after their page: they take the place of the letters, and disturb nothing else.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  addTestOperator,
  signIn,
  signInPage,
  startTestConsole,
  useTestConsole,
} from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('icons that are being fetched, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let game_id = '';

  beforeAll(async () => {
    const { sql } = database;
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

  test('a button that comes late comes with the pictures of both lists, which the decision then names', async () => {
    const { sql } = database;
    const keeping = await startTestConsole(database, { keepsPictures: true });
    onTestFinished(() => keeping.stop());
    const urls = ['icon', 'shot'].map((each) => `https://cdn.example/sled-${each}.png`);
    const [icon = '', shot = ''] = urls;
    const game = fetchedGame({ game_id: 'sled', game_icon: [icon], game_store_pic: [shot] });
    await upsertGames(sql, 'app', [game]);
    const page = await (await browser.newContext()).newPage();
    // The list of the pictures is requested, and gets no answer.
    await page.route('**/pictures?field=game_store_pic*', () => {});
    await signInPage(page, keeping.url, 'olga', `/games/${game.game_id}`);
    const pass = page.getByRole('button', { name: 'Pass' });
    await pass.waitFor();
    expect(await pass.isDisabled()).toBe(true);
    const pictures = openPictures(sql, ['app']);
    for (const [n, url] of urls.entries()) await pictures.show(url, n + 5);
    pictures.close();
    await sql`update picture_contents set stored = 'seen'`;
    await expect.poll(() => pass.isEnabled()).toBe(true);
    const seen = await page.evaluate<string>(
      `new FormData(document.querySelector('form#pass')).getAll('seen_pictures').join(' ')`,
    );
    const rows = await sql<{ sha256: string }[]>`
      select encode(sha256, 'hex') as sha256 from pictures where url = any(${urls})`;
    expect(rows).toHaveLength(2);
    for (const { sha256 } of rows) expect(seen).toContain(sha256);
    await page.context().close();
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
