// What every page has without being asked: where the focus is, what paper shows, and that a long text goes on.
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  addTestOperator,
  PASSWORD,
  signInPage,
  startTestConsole,
  useTestConsole,
} from '#test/support/console.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const LINES = Array.from({ length: 60 }, (_, n) => `line ${n}`).join('\n');

describe.runIf(hasBrowser())('a page in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer');
    await addTestOperator(sql, 'vera', 'viewer');
    await addApplication(sql, 'app');
    await upsertGames(sql, 'app', [fetchedGame({ game_id: 'g-1', game_info: LINES })]);
  });

  const openGame = async (): Promise<Page> => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', '/review');
    await page.locator('.game-card .name').click();
    await page.getByRole('heading', { name: 'Description' }).waitFor();
    return page;
  };

  test('one signs in without a click: the focus is on the login, and after a wrong password, which keeps the login, on the password', async () => {
    const page = await browser.newPage();
    await page.goto(`${served.url}/sign-in`);
    await page.locator('input[name="login"]:focus').waitFor();
    await page.keyboard.type('olga');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not her password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.locator('input[name="password"]:focus').waitFor();
    expect(await page.getByLabel('Login').inputValue()).toBe('olga');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto(`${served.url}/portal/sign-in`);
    await page.locator('input[name="token"]:focus').waitFor();
    await page.close();
  });

  test('a page that fails offers to retry, and its retry is that page', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'vera');
    await database.sql`alter table reasons rename to reasons_away`;
    expect((await page.goto(`${served.url}/reasons?sort=code`))?.status()).toBe(500);
    await database.sql`alter table reasons_away rename to reasons`;
    await page.getByRole('link', { name: 'Retry' }).click();
    await page.getByRole('heading', { name: 'Reasons' }).waitFor();
    expect(page.url()).toBe(`${served.url}/reasons?sort=code`);
    await page.close();
  });

  test('a form that fails leads back to its page, which has what was typed', async () => {
    await addTestOperator(database.sql, 'ada', 'admin');
    const page = await browser.newPage();
    await signInPage(page, served.url, 'ada', '/reasons?sort=code');
    await page.getByLabel('Code').fill('too_loud');
    await page
      .locator('form', { has: page.getByLabel('Code') })
      .getByLabel('What the')
      .fill('Too loud');
    await database.sql`alter table reasons rename to reasons_away`;
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The request failed' }).waitFor();
    await database.sql`alter table reasons_away rename to reasons`;
    await page.getByRole('link', { name: 'Back to the form' }).click();
    await page.getByRole('heading', { name: 'Add a reason' }).waitFor();
    expect(page.url()).toBe(`${served.url}/reasons?sort=code`);
    expect(await page.getByLabel('Code').inputValue()).toBe('too_loud');
    await page.close();
  });

  test.for(['down', 'not there'])(
    'a sign-in while the database is %s leads back to its form',
    async (state) => {
      const away = new URL(state === 'down' ? 'postgres://none@127.0.0.1:1' : database.databaseUrl);
      away.pathname = '/none';
      const sql = openDatabase(away.href, { max: 1 });
      const { url, stop } = await startTestConsole(database, { sql });
      const page = await browser.newPage();
      for (const [path, label] of [
        ['/sign-in?next=%2Fgames', 'Password'],
        ['/portal/sign-in', 'API token'],
      ] as const) {
        await page.goto(url + path);
        for (const box of await page.locator('input:visible').all()) await box.fill('olga');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('The database or the queue does not answer.').waitFor();
        await page.getByRole('link', { name: 'Back to the form' }).click();
        await page.getByLabel(label).waitFor();
        expect(page.url()).toBe(url + path);
      }
      await page.close();
      await stop();
      await sql.end();
    },
  );

  test('a page that takes another role keeps the navigation, and says which role and who gives it', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'vera');
    expect((await page.goto(`${served.url}/audit`))?.status()).toBe(403);
    await page.getByRole('heading', { name: 'Not allowed' }).waitFor();
    await page
      .getByText('This takes the role admin. You have viewer. Ask an administrator for it.')
      .waitFor();
    await page.getByRole('link', { name: 'Games' }).click();
    await page.getByRole('heading', { level: 1, name: 'Games' }).waitFor();
    await page.close();
  });

  test('at 390 pixels, the name of a person is in the row of the logo and the button that signs out', async () => {
    await database.sql`update operators set name = 'Olga Maria Reyes of the night shift' where login = 'olga'`;
    const page = await openGame();
    await page.setViewportSize({ width: 390, height: 844 });
    const middles = await page.locator('.brand, .who > div > a, .who .button').evaluateAll((all) =>
      all.map((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        return (top + bottom) / 2;
      }),
    );
    expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(5);
    await page.close();
  });

  test('a text that goes on below its card has a shade there, and none at its end', async () => {
    const page = await openGame();
    const text = page.getByRole('region', { name: 'Description' });
    /** The red of the last row of pixels but one, where no letter is: the last one may be half of the card's edge. */
    const shade = async (): Promise<number | undefined> => {
      const { data, info } = await sharp(await text.screenshot())
        .raw()
        .toBuffer({ resolveWithObject: true });
      return data[((info.height - 2) * info.width + Math.floor(info.width / 2)) * info.channels];
    };
    expect(await shade()).toBeLessThan(245);
    await text.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
    expect(await shade()).toBe(255);
    await page.close();
  });

  test('paper shows the whole text, without navigation and buttons', async () => {
    const page = await openGame();
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('nav, .button, .copy').filter({ visible: true }).count()).toBe(0);
    const text = page.getByRole('region', { name: 'Description' });
    expect(await text.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
    // A card of a lane has its name, though the checkbox before it is not printed.
    await page.goto(new URL('/review', page.url()).href);
    expect((await page.locator('.game-card > div').first().boundingBox())?.width).toBeGreaterThan(150);
    await page.close();
  });

  test('paper shows what did not change, which a screen folds', async () => {
    const { sql } = database;
    const game = fetchedGame({ game_id: 'g-2', game_info: 'Some words.' });
    await upsertGames(sql, 'app', [game]);
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    await upsertGames(sql, 'app', [fetchedGame({ game_id: 'g-2', game_info: 'Others.' }, new Date())]);
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', `/games/${game.game_id}`);
    const video = page.getByRole('heading', { name: 'Video' });
    expect(await video.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await video.isVisible()).toBe(true);
    await page.close();
  });
});
