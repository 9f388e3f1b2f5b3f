// A page that arrives in parts: what is shown of it stays where it is.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { hasBrowser, LIST_SHIFTS, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('a slow page in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  /** The console behind a line that stops before a text, until the rest is let through. @returns its address */
  const serveInParts = async (stop: string, rest: Promise<void>): Promise<string> => {
    const server = await startRawServer(async ({ url = '/', headers }, response) => {
      const answer = await fetch(new URL(url, served.url), { headers: { cookie: headers.cookie ?? '' } });
      response.setHeader('content-type', answer.headers.get('content-type') ?? '');
      const body = await answer.text();
      const at = body.indexOf(stop);
      response.write(body.slice(0, at));
      if (at !== -1) await rest;
      response.end(body.slice(at));
    });
    onTestFinished(server.close);
    return server.url;
  };

  test.each(['/sign-in', '/portal/sign-in'])('nothing of %s moves', async (path) => {
    const rest = Promise.withResolvers<void>();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await page.addInitScript(LIST_SHIFTS);
    await page.goto(`${await serveInParts('<form', rest.promise)}${path}`, { waitUntil: 'commit' });
    await page.getByRole('heading').waitFor();
    // Nothing is shown before the styles are there, though the page can be measured.
    await page.waitForFunction(
      `[...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet)`,
    );
    const before = await page.locator('main').boundingBox();
    rest.resolve();
    await page.waitForLoadState();
    const after = await page.locator('main').boundingBox();
    expect([after?.x, after?.y, after?.width]).toEqual([before?.x, before?.y, before?.width]);
    expect(await page.evaluate('shifts')).toEqual([]);
    await page.close();
  });

  const pictures = Array.from({ length: 9 }, (_, n) => `https://cdn.example/${n}.png`);
  const game = fetchedGame({ game_id: 'g-1', game_store_pic: pictures });

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
    await addApplication(database.sql, 'app');
    await upsertGames(database.sql, 'app', [game]);
  });

  test.each([2, 6])('nothing of a game moves whose picture %i comes later', async (n) => {
    const rest = Promise.withResolvers<void>();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await signInPage(page, served.url, 'olga');
    await page.addInitScript(LIST_SHIFTS);
    const url = await serveInParts(`<span class="end" title="${pictures[n]}"`, rest.promise);
    await page.goto(`${url}/games/${game.game_id}`, { waitUntil: 'commit' });
    await page.getByTitle(pictures[n - 1] ?? '').waitFor({ state: 'attached' });
    // Several frames.
    await page.waitForTimeout(500);
    rest.resolve();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.getByTitle(pictures[8] ?? '').waitFor();
    expect(await page.evaluate('shifts')).toEqual([]);
    await page.close();
  });

  test('nothing of a lane moves whose last button comes later', async () => {
    const rest = Promise.withResolvers<void>();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await signInPage(page, served.url, 'olga');
    await page.addInitScript(LIST_SHIFTS);
    const start = '<a class="button primary" href="/review/next';
    await page.goto(`${await serveInParts(start, rest.promise)}/review`, { waitUntil: 'commit' });
    await page.getByText('Gallery').waitFor({ state: 'attached' });
    // Several frames.
    await page.waitForTimeout(500);
    rest.resolve();
    await page.getByRole('link', { name: 'Start' }).waitFor();
    await page.waitForLoadState();
    expect(await page.evaluate('shifts')).toEqual([]);
    await page.close();
  });
});
