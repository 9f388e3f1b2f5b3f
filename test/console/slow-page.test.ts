// A page that arrives in parts: what is shown of it stays where it is.
import { describe, expect, onTestFinished, test } from 'vitest';
import { startRawServer } from '#test/support/application-server.ts';
import { hasBrowser, LIST_SHIFTS, useBrowser } from '#test/support/browser.ts';
import { useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('a slow page in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  /** The console behind a line that stops before the form, until the rest is let through. @returns its address */
  const serveInParts = async (rest: Promise<void>): Promise<string> => {
    const server = await startRawServer(async ({ url = '/' }, response) => {
      const answer = await fetch(new URL(url, served.url));
      response.setHeader('content-type', answer.headers.get('content-type') ?? '');
      const body = await answer.text();
      const form = body.indexOf('<form');
      response.write(body.slice(0, form));
      if (form !== -1) await rest;
      response.end(body.slice(form));
    });
    onTestFinished(server.close);
    return server.url;
  };

  test.each(['/sign-in', '/portal/sign-in'])('nothing of %s moves', async (path) => {
    const rest = Promise.withResolvers<void>();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await page.addInitScript(LIST_SHIFTS);
    await page.goto(`${await serveInParts(rest.promise)}${path}`, { waitUntil: 'commit' });
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
});
