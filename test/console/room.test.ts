// Parts of a page have room between them, and what one chooses is whole, on narrow screens too.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { saveReason } from '#db/queries/reasons.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { findOverflow } from '#test/support/inspect-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('parts of pages in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  const game = fetchedGame({ game_id: 'g-1', game_name: 'Kite' });
  let page: Page;

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'ada', 'admin', 'reviewer');
    await addApplication(sql, 'kites');
    await upsertGames(sql, 'kites', [game, fetchedGame({ game_id: 'g-2' })]);
    await upsertGames(sql, 'kites', [fetchedGame({ game_id: 'g-1', game_name: 'Kites' }, new Date())]);
    page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await signInPage(page, served.url, 'ada');
  });

  const boxOf = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    if (box === null) throw new Error(`${selector} is not shown`);
    return { ...box, bottom: box.y + box.height };
  };

  test('between the row of an operator and the form below it', async () => {
    await page.goto(`${served.url}/operators`);
    await page.locator('td summary').click();
    const [row, form] = [await boxOf('tr:has(.opens-below[open])'), await boxOf('.below legend')];
    expect(form.y - row.bottom).toBeGreaterThan(10);
  });

  test.for([390, 768])('at %i pixels the form below an operator begins where its row does', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${served.url}/operators`);
    await page.locator('td summary').click();
    const [name, form] = [await boxOf('tr:has(.opens-below[open]) > td'), await boxOf('.below legend')];
    expect(Math.abs(form.x - name.x)).toBeLessThan(4);
    await page.setViewportSize({ width: 1_280, height: 800 });
  });

  test('around the buttons of games that were not opened', async () => {
    await page.goto(`${served.url}/review`);
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: /^Pass/ }).click();
    await page.getByRole('heading', { name: 'Pass games that you have not opened?' }).waitFor();
    const [said, buttons, games] = await Promise.all(
      ['form .body > p', 'form .body > .actions', 'form .rows'].map(boxOf),
    );
    expect((buttons?.y ?? 0) - (said?.bottom ?? 0)).toBeGreaterThan(8);
    expect((games?.y ?? 0) - (buttons?.bottom ?? 0)).toBeGreaterThan(8);
  });

  test('a phone shows two revisions whole, beside each other', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/games/${game.game_id}`);
    const [from, to] = [await boxOf('select[name="from"]'), await boxOf('select[name="to"]')];
    expect([to.y, Math.round(to.width)]).toEqual([from.y, Math.round(from.width)]);
    // "revision 12" and its arrow.
    expect(from.width).toBeGreaterThan(130);
  });

  test('a tablet shows two games of a gallery beside each other', async () => {
    await page.setViewportSize({ width: 768, height: 1_024 });
    await page.goto(`${served.url}/review?view=gallery`);
    const cards = await page.locator('.game-card').all();
    const [one, other] = await Promise.all(cards.map((card) => card.boundingBox()));
    expect(other?.y).toBe(one?.y);
  });

  test('the button of a notice is whole beside a long name', async () => {
    const name = 'Ещё один длинный день в Санкт-Петербурге';
    await upsertGames(database.sql, 'kites', [fetchedGame({ game_id: 'g-1', game_name: name }, new Date())]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/games/${game.game_id}`);
    await page.getByRole('button', { name: /^Pass/ }).click();
    await page.getByText(`${name}: passed.`).waitFor();
    expect(await findOverflow(page)).toEqual([]);
  });

  test('a reason with a long text divides no code, and no code is wider than a phone', async () => {
    const reason = {
      code: 'a_code_that_is_as_long_as_a_code_can_b_x',
      label: 'Ads',
      text: 'Long. '.repeat(200),
    };
    await saveReason(database.sql, reason);
    for (const width of [1_280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${served.url}/reasons`);
      const code = page.locator('td .mono', { hasText: 'inappropriate' });
      expect((await code.boundingBox())?.height).toBeLessThan(25);
      expect(await findOverflow(page)).toEqual([]);
      const [edit, retire] = [await boxOf('td .opens-below'), await boxOf('td form .button')];
      expect(retire.y).toBeLessThan(edit.bottom);
    }
  });

  test('a name without spaces stays in the column of the navigation', async () => {
    await addApplication(database.sql, 'wide', { name: 'W'.repeat(200) });
    const { token } = await addToken(database.sql, 'wide');
    const portal = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await signInDeveloper(portal, served.url, token);
    const name = portal.locator('.who strong');
    await name.waitFor();
    const [box, column] = [await name.boundingBox(), await portal.locator('.side').boundingBox()];
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(column?.width ?? 0);
    await upsertGames(database.sql, 'wide', [fetchedGame({ game_id: 'kite' })]);
    await portal.goto(`${served.url}/portal/game?id=kite`);
    const call = portal.getByText('POST /open-api/game/refresh');
    expect(await call.evaluate((each) => each.getClientRects().length)).toBe(1);
    await portal.close();
  });

  test('a name of 512 characters takes four lines of the timeline', async () => {
    const long = fetchedGame({ game_id: 'long', game_name: 'W'.repeat(512) });
    await upsertGames(database.sql, 'kites', [long]);
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(`${served.url}/games/${long.game_id}`);
    const entry = page.locator('.timeline span').filter({ hasText: 'First received' });
    expect((await entry.boundingBox())?.height).toBeLessThan(90);
  });

  test('the portal of an application with long names is no wider than a phone', async () => {
    const id = 'an-identifier-of-an-application-that-is-as-long-as-one-can-be-x';
    await addApplication(database.sql, id, { name: '株式会社とても長い名前のゲームスタジオとその関連会社' });
    const { token } = await addToken(database.sql, id);
    await page.setViewportSize({ width: 390, height: 844 });
    await signInDeveloper(page, served.url, token);
    expect(await findOverflow(page)).toEqual([]);
  });
});
