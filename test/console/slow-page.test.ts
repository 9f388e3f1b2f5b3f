// A page that arrives in pieces: nothing moves that is shown of it.
import { setTimeout } from 'node:timers/promises';
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

  /** The console behind a line that brings pages in pieces, a frame or so apart. @returns its address */
  const serveInPieces = async (): Promise<string> => {
    const server = await startRawServer(async ({ url = '/', headers }, response) => {
      const answer = await fetch(new URL(url, served.url), { headers: { cookie: headers.cookie ?? '' } });
      const type = answer.headers.get('content-type') ?? '';
      response.setHeader('content-type', type);
      const body = Buffer.from(await answer.arrayBuffer());
      const size = type.startsWith('text/html') ? 400 : body.length;
      for (let at = 0; at < body.length; at += size) {
        response.write(body.subarray(at, at + size));
        await setTimeout(20);
      }
      response.end();
    });
    onTestFinished(server.close);
    return server.url;
  };

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
    await addApplication(database.sql, 'app');
    const pictures = Array.from({ length: 9 }, (_, n) => `https://cdn.example/${n}.png`);
    await upsertGames(database.sql, 'app', [fetchedGame({ game_id: 'g-1', game_store_pic: pictures })]);
  });

  const pages = ['/', '/review', '/review?view=gallery', '/games/g-1', '/games', '/applications/app'];

  test.each(['/sign-in', '/portal/sign-in', ...pages])('nothing of %s moves', async (path) => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    if (pages.includes(path)) await signInPage(page, served.url, 'olga');
    await page.addInitScript(LIST_SHIFTS);
    await page.goto(`${await serveInPieces()}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate('shifts')).toEqual([]);
    await page.close();
  });
});
