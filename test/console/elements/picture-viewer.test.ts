import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const ICON = 'https://cdn.example/icon.png';
const SHOTS = [1, 2, 3].map((n) => `https://cdn.example/shot-${n}.png`);

describe.runIf(hasBrowser())('the viewer of pictures in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let path: string;

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer');
    await addApplication(sql, 'app');
    const game = fetchedGame({ game_id: 'g', game_name: 'Kite', game_icon: [ICON], game_store_pic: SHOTS });
    await upsertGames(sql, 'app', [game]);
    const pictures = openPictures(sql, ['app']);
    for (const [n, url] of [ICON, ...SHOTS].entries()) await pictures.show(url, n);
    pictures.close();
    path = `/games/${game.game_id}`;
  });

  const openGame = async (): Promise<{ page: Page; errors: string[] }> => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    const errors = collectErrors(page);
    await signInPage(page, served.url, 'olga', path);
    await page.getByRole('heading', { level: 1, name: 'Kite' }).waitFor();
    return { page, errors };
  };
  const shown = (page: Page, text: string) => page.getByRole('dialog').getByText(text).waitFor();

  test('a digit opens a picture, arrows move among all of them, the address is below, Escape closes', async () => {
    const { page, errors } = await openGame();
    await page.keyboard.press('2');
    await shown(page, `Picture 2 of 3 · ${SHOTS[1]}`);
    // There is no such picture.
    await page.keyboard.press('7');
    await page.keyboard.press('ArrowRight');
    await shown(page, 'Picture 3 of 3');
    await page.keyboard.press('ArrowRight');
    await shown(page, 'Icon 1 of 1');
    await page.keyboard.press('ArrowRight');
    await shown(page, 'Picture 1 of 3');
    // One count: that of the picture among those of its kind.
    expect((await page.getByRole('dialog').innerText()).match(/\d of \d/g)).toEqual(['1 of 3']);
    await page.keyboard.press('ArrowLeft');
    await shown(page, 'Icon 1 of 1');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(errors).toEqual([]);
    await page.close();
  });

  test('a click opens a picture and another one zooms; the space bar opens the first and closes it', async () => {
    const { page } = await openGame();
    await page.getByRole('link', { name: 'Picture 1 of 3' }).click();
    const image = page.getByRole('dialog').getByRole('img');
    const width = async () => (await image.boundingBox())?.width ?? 0;
    await until('the picture', async () => (await width()) > 500);
    const before = await width();
    await image.click();
    expect(await width()).toBeGreaterThan(before);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1 }).focus();
    await page.keyboard.press(' ');
    await shown(page, 'Picture 1 of 3');
    await page.keyboard.press(' ');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.close();
  });

  test('the decision is one key also while a picture is open; without scripts a picture is a page of its own', async () => {
    const { page } = await openGame();
    await page.keyboard.press('1');
    await shown(page, 'Picture 1 of 3');
    await page.keyboard.press('r');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.locator('input[name="reason"]:focus').first().waitFor();
    const href = await page.locator('a.frame').first().getAttribute('href');
    const response = await page.goto(new URL(href ?? '', served.url).href);
    expect(response?.headers()['content-type']).toBe('image/webp');
    await page.close();
  });

  test('pictures and the decision are on the first screen, at least 300 pixels wide', async () => {
    const { page } = await openGame();
    const bottoms = await page
      .locator('a.frame, #decision')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().bottom));
    expect(bottoms).toHaveLength(5);
    expect(Math.max(...bottoms)).toBeLessThan(800);
    const [frame] = await page.locator('a.frame').all();
    expect((await frame?.boundingBox())?.width).toBeGreaterThan(300);
    await page.close();
  });

  test('a transparent picture has squares of two tones behind it, in which no text of one colour hides', async () => {
    const url = 'https://cdn.example/clear.png';
    const game = fetchedGame({ game_id: 'clear', game_name: 'Clear', game_icon: [], game_store_pic: [url] });
    await upsertGames(database.sql, 'app', [game]);
    const pictures = openPictures(database.sql, ['app']);
    const create = { width: 320, height: 200, channels: 4, background: '#ffffff00' } as const;
    await pictures.store(url, await sharp({ create }).png().toBuffer());
    pictures.close();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await signInPage(page, served.url, 'olga', `/games/${game.game_id}`);
    const [{ min, max } = { min: 0, max: 0 }] = (
      await sharp(await page.locator('.frame img').screenshot()).stats()
    ).channels;
    expect(max - min).toBeGreaterThan(60);
    await page.close();
  });
});
