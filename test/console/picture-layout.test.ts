// What reviewers see of pictures that hide something, that are many, or that are not there.
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { findViolations } from '#test/support/inspect-page.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const WINDOW = { width: 1_280, height: 800 };
const CLEAR = 'https://cdn.example/clear.png';
const LONG = 'Gardens of the Ninth Moon: The Complete Anniversary Collection';
const shots = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `https://cdn.example/${name}-${n}.png`);

describe.runIf(hasBrowser())('pictures in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  const ids: Record<string, string> = {};
  let page: Page;

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer');
    for (const id of ['app', 'copycat']) await addApplication(sql, id);
    const land = async (game_name: string, game_store_pic: string[], game_icon: string[] = []) => {
      const game = fetchedGame({ game_id: game_name, game_name, game_store_pic, game_icon });
      await upsertGames(sql, 'app', [game]);
      ids[game_name] = game.game_id;
    };
    await land('one', shots('one', 1));
    await land('three', shots('three', 3));
    await land('none', []);
    await land('\u202eebony', shots('many', 100));
    await upsertGames(sql, 'copycat', [fetchedGame({ game_id: 'same', game_name: '\u202eebony' })]);
    await land('clear', [], [CLEAR]);
    await land('framed', shots('three', 3), [CLEAR]);
    await land(LONG, shots('three', 3));
    await land('two', shots('three', 2), shots('one', 1));
    const pictures = openPictures(sql, ['app']);
    for (const url of [...shots('one', 1), ...shots('three', 3)]) await pictures.show(url, 1);
    for (const url of shots('many', 100)) await pictures.fail(url);
    const create = { width: 320, height: 320, channels: 4, background: '#ffffff00' } as const;
    await pictures.store(CLEAR, await sharp({ create }).png().toBuffer());
    pictures.close();
    page = await browser.newPage({ viewport: WINDOW });
    await signInPage(page, served.url, 'olga');
  });

  const card = (name: string) =>
    page.locator('.game-card').filter({ has: page.getByRole('link', { name, exact: true }) });

  test('a transparent icon has squares of two tones behind it, in a lane and beside the name of its game', async () => {
    for (const path of ['/review?view=list', `/games/${ids.clear}`]) {
      await page.goto(served.url + path);
      const icon = await page.locator(`#icon-${ids.clear} img`).screenshot();
      const [{ min, max } = { min: 0, max: 0 }] = (await sharp(icon).stats()).channels;
      expect(max - min, path).toBeGreaterThan(60);
    }
  });

  test('in the gallery one picture is as high as each of three, and a game without pictures says so', async () => {
    await page.goto(`${served.url}/review?view=gallery`);
    const heights = await page
      .locator('.shots .frame')
      .evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().height)));
    expect(heights.length).toBeGreaterThan(4);
    expect([...new Set(heights)]).toHaveLength(1);
    await card('none').getByText('no pictures').waitFor();
  });

  test('a name that begins with a control character has its first letter in place of the icon', async () => {
    await page.goto(`${served.url}/review?view=list`);
    expect(await page.locator(`#icon-${ids['\u202eebony']}`).textContent()).toBe('E');
  });

  test('a mark that comes late is in the line of its application, inside its card', async () => {
    await page.goto(`${served.url}/review?view=list`);
    const late = page.getByTitle('similar name elsewhere');
    const marked = page.locator('.game-card').filter({ has: late }).first();
    const [cardBox, line, mark, name] = await Promise.all(
      [marked, marked.locator('.of'), marked.locator('.of > .badge'), marked.locator('.of > [dir]')].map(
        (each) => each.boundingBox(),
      ),
    );
    const [end, edge] = [mark, cardBox].map((box) => (box?.y ?? 0) + (box?.height ?? 0));
    expect(end).toBeLessThan(edge ?? 0);
    const [nameEnd, markEnd, cardEnd] = [name, mark, cardBox].map((box) => (box?.x ?? 0) + (box?.width ?? 0));
    expect(nameEnd).toBeLessThan(mark?.x ?? 0);
    expect(markEnd).toBeLessThan(cardEnd ?? 0);
    expect(line?.height).toBe((await card('none').locator('.of').boundingBox())?.height);
  });

  test('behind three pictures, in a window of 1,280 pixels, the icon is in their row', async () => {
    await page.goto(`${served.url}/games/${ids.framed}`);
    const boxes = await page
      .locator('.shot .frame')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()));
    expect(boxes).toHaveLength(4);
    expect([...new Set(boxes.map(({ top }) => Math.round(top)))]).toHaveLength(1);
    expect(Math.min(...boxes.slice(0, 3).map(({ width }) => width))).toBeGreaterThanOrEqual(300);
    expect(boxes[3]?.width).toBeGreaterThan(60);
  });

  const boxesOf = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()));

  test('in the gallery the pictures of a row begin at one height, below a long name too', async () => {
    await page.goto(`${served.url}/review?view=gallery`);
    const rows = Map.groupBy(await boxesOf('.game-card'), ({ top }) => Math.round(top));
    const tops = Map.groupBy(await boxesOf('.shots'), ({ top }) => Math.round(top));
    expect(tops.size).toBe(rows.size);
  });

  test('the caption of an icon is no wider than the icon', async () => {
    await page.goto(`${served.url}/games/${ids.two}`);
    const [icon] = await boxesOf('#pictures-game_icon .frame');
    const captions = await boxesOf('#pictures-game_icon figcaption > :last-child, #pictures-game_icon span');
    const ends = captions.map(({ right }) => right);
    expect(Math.max(...ends)).toBeLessThanOrEqual(icon.right);
  });

  test('in a window of 1,920 pixels a picture fills its frame', async () => {
    await page.setViewportSize({ width: 1_920, height: 1_080 });
    await page.goto(`${served.url}/games/${ids.two}`);
    await page.locator('.gallery img').nth(2).waitFor();
    const frames = await boxesOf('#pictures-game_store_pic .frame');
    const images = await boxesOf('#pictures-game_store_pic img');
    expect(frames[0].width).toBeGreaterThan(520);
    for (const [n, { width }] of images.entries()) expect(frames[n].width - width).toBeLessThan(5);
    await page.setViewportSize(WINDOW);
  });

  test('a badge without a tone has that of its card neither', async () => {
    const colours = [];
    for (const name of ['one', '\u202eebony']) {
      await page.goto(`${served.url}/games/${ids[name]}`);
      const badge = page.locator('#hints').getByText('no verdict');
      colours.push(await badge.evaluate('(each) => getComputedStyle(each).color'));
    }
    await page.locator('#hints.warn').waitFor();
    expect(colours[0]).toBe(colours[1]);
  });

  test('a hundred pictures leave the description in the first window, and the keyboard scrolls them', async () => {
    await page.goto(`${served.url}/games/${ids['\u202eebony']}`);
    const description = await page.getByRole('heading', { name: 'Description' }).boundingBox();
    expect((description?.y ?? WINDOW.height) + (description?.height ?? 0)).toBeLessThan(WINDOW.height);
    const gallery = page.getByRole('group', { name: 'Pictures' });
    await gallery.focus();
    await page.keyboard.press('End');
    await expect.poll(() => gallery.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
    expect(await findViolations(page, ['scrollable-region-focusable'])).toEqual([]);
  });

  test('at 390 pixels no caption is cut, and an open picture is in the middle', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/games/${ids.three}`);
    await page.getByText('1280 × 720, PNG').nth(2).waitFor();
    const cut = await page
      .locator('.shot figcaption > span')
      .filter({ visible: true })
      .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length);
    expect(cut).toBe(0);
    await page.keyboard.press('1');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Picture 1 of 3').waitFor();
    const [stage, picture] = [await dialog.boundingBox(), await dialog.getByRole('img').boundingBox()];
    expect((picture?.y ?? 0) - (stage?.y ?? 0)).toBeGreaterThan(150);
    await page.setViewportSize(WINDOW);
  });

  test('a part without content is one line', async () => {
    await page.goto(`${served.url}/games/${ids.none}`);
    const part = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Pictures' }) });
    await part.getByText('none').waitFor();
    expect((await part.boundingBox())?.height).toBeLessThan(50);
  });
});
