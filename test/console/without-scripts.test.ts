// The forms of a review, a thread, a hold and the settings do what they say in a browser that runs no script.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { createEventBox } from '#src/sealing/event-box.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame, testKeys } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('without scripts, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    await addTestOperator(sql, 'rui', 'reviewer');
    await addApplication(sql, 'app');
    await createEventBox(sql, testKeys);
    for (const name of ['Boat', 'Kite', 'Tram', 'Moon']) {
      const game = fetchedGame({ game_id: name, game_name: name, game_icon: [], game_store_pic: [] });
      await upsertGames(sql, 'app', [game]);
      ids[name] = game.game_id;
    }
  });

  const open = async (path: string, login = 'olga'): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await signInPage(page, served.url, login, path);
    return page;
  };
  const openPortal = async (path: string): Promise<Page> => {
    const { token } = await addToken(database.sql, 'app');
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await signInDeveloper(page, served.url, token);
    await page.goto(served.url + path);
    return page;
  };
  const statusOf = async (name: string): Promise<string> => {
    const [row] = await database.sql`select audit_status from games where game_id = ${ids[name] ?? ''}`;
    return row?.audit_status;
  };
  const status = (page: Page) => page.getByRole('status');

  test('a game is passed, the pass is undone, and it is rejected with a text', async () => {
    const page = await open(`/games/${ids.Boat}?lane=new`);
    await page.getByRole('button', { name: 'Pass' }).click();
    await status(page).getByText('Boat: passed.').waitFor();
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Boat: undone').waitFor();
    await page.goto(`${served.url}/games/${ids.Boat}?lane=new`);
    const decision = page.locator('#decision');
    await decision.locator('summary').click();
    await decision.getByLabel(/incomplete/).check();
    await decision.getByLabel('Text for the developer').fill('The text ends in the middle.');
    await decision.getByRole('button', { name: 'Reject' }).click();
    await status(page).getByText('Boat: rejected.').waitFor();
    expect(await statusOf('Boat')).toBe('rejected');
  });

  test('games of a lane are passed together, after the page has asked about those that were not opened', async () => {
    const page = await open('/review?view=gallery');
    for (const name of ['Kite', 'Tram']) await page.getByLabel(`Select ${name}`).check();
    await page.locator('.bulk').getByRole('button', { name: 'Pass' }).click();
    await page.getByRole('button', { name: /^Pass all/ }).click();
    await status(page).getByText('2 passed.').waitFor();
    expect([await statusOf('Kite'), await statusOf('Tram')]).toEqual(['passed', 'passed']);
  });

  test('games of a lane are rejected together', async () => {
    const page = await open('/review?view=list');
    await page.getByLabel('Select Moon').check();
    const bar = page.locator('.bulk');
    await bar.locator('summary').click();
    await bar.getByLabel(/rights/).check();
    await bar.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('button', { name: 'Reject all 1' }).click();
    await status(page).getByText('1 rejected.').waitFor();
    expect(await statusOf('Moon')).toBe('rejected');
  });

  test('a note, a message, an answer and an appeal are in the thread, and the appeal is decided', async () => {
    const page = await open(`/games/${ids.Boat}`);
    await page.getByText('Note for operators…').click();
    await page.getByLabel('Note: its developer never reads it').fill('Looked at twice.');
    await page.getByRole('button', { name: 'Keep the note' }).click();
    await page.getByText('The note is kept.').waitFor();
    await page.getByText('Message to the developer…').click();
    await page.getByLabel('Message: its developer reads it').fill('Which harbour?');
    await page.getByRole('button', { name: 'Send to the developer' }).click();
    await page.getByText('Which harbour?').waitFor();

    const portal = await openPortal('/portal/game?id=Boat');
    await portal.getByText('Which harbour?').first().waitFor();
    await portal.getByRole('textbox').last().fill('The text is whole now.');
    await portal.getByText('Appeal…').click();
    await portal.getByRole('button', { name: 'Appeal the rejection' }).click();
    await portal.getByText('The text is whole now.').first().waitFor();

    const other = await open(`/games/${ids.Boat}`, 'rui');
    await other.locator('#appeal-overturn summary').click();
    await other.locator('#appeal-overturn textarea').fill('It is.');
    await other.getByRole('button', { name: 'Overturn the rejection' }).click();
    await status(other)
      .getByText(/overturned|passed/)
      .waitFor();
    expect(await statusOf('Boat')).toBe('passed');
  });

  test('games of an application are held and released, and its schedule and its address for events change', async () => {
    const page = await open('/applications/app');
    await page.getByText('Hold its games…').click();
    await page.getByLabel('Reason, which its developer reads').fill('A complaint.');
    await page.getByRole('button', { name: 'Hold: no game of it is live' }).click();
    await page.getByText('app is held.').waitFor();
    await page.getByRole('button', { name: 'Release its games' }).click();
    await page.getByText('app is no longer held.').waitFor();
    await page.getByText('Settings', { exact: true }).last().click();
    await page.locator('#change-settings summary').click();
    await page.getByLabel('Games every').fill('20m');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved: Games every 20m.').waitFor();
    await page.locator('#events').getByText('Set an address…').click();
    await page.getByLabel('Address (https)').fill('https://games.example/events');
    await page.locator('#events [name="api_token"]').fill((await addToken(database.sql, 'app')).token);
    await page.getByRole('button', { name: 'Set address' }).click();
    await page.getByText(/whsec_/).waitFor();
  });
});
