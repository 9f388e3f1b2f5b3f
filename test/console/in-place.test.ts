// From game to game htmx replaces the page in place: all that a browser does for a page that is loaded must hold.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { transact } from '#db/transact.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const GAMES = 3;

describe.runIf(hasBrowser())('from game to game in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
  });

  /** A lane of three games. @returns a page with the first of them, which keeps `window.kept` while it is not loaded again */
  const openLane = async (): Promise<{ page: Page; errors: string[]; names: string[]; pass: string }> => {
    // A page of the test before may still be read: Postgres ends one of two that wait for each other.
    await transact(database.sql, (tx) => tx`truncate games, game_revisions, game_audits cascade`);
    await addApplication(database.sql, 'app');
    await upsertGames(
      database.sql,
      'app',
      Array.from({ length: GAMES }, (_, n) => fetchedGame({ game_id: `g-${n}`, game_name: `game ${n}` })),
    );
    const page = await browser.newPage();
    const errors = collectErrors(page);
    await signInPage(page, served.url, 'olga', '/review?lane=new');
    const names = await page.locator('.game-card .name').allTextContents();
    await page.locator('.game-card .name').first().click();
    await page.waitForURL(/\/games\//);
    await page.waitForLoadState();
    await page.evaluate('window.kept = true');
    return { page, errors, names, pass: new URL(page.url()).pathname };
  };
  const isKept = (page: Page) => page.evaluate('window.kept === true');
  const heading = async (page: Page, name: string | undefined) => {
    await page.getByRole('heading', { level: 1, name: name ?? 'none', exact: true }).waitFor();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
  };
  const decided = async () => {
    const rows = await database.sql<{ audit_status: string; text: string }[]>`
      select audit_status, coalesce(text, '') as text from game_audits order by decided_at`;
    return rows.map(({ audit_status, text }) => `${audit_status} ${text}`.trim());
  };

  test('the next game has its title, its address and the focus on its heading; back loads the one before as it is now', async () => {
    const { page, errors, names, pass } = await openLane();
    await page.evaluate('scrollTo(0, 10_000)');
    await page.keyboard.press('p');
    await heading(page, names[1]);
    await page.getByText(`${names[0]}: passed.`).waitFor();
    expect(await isKept(page)).toBe(true);
    await until('the focus', () => page.evaluate<boolean>("document.activeElement.tagName === 'H1'"));
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await page.title()).toBe(`${names[1]} · Game Catalogue`);
    expect(page.url()).toContain('/games/');
    await page.keyboard.press('j');
    await heading(page, names[2]);
    await page.keyboard.press('k');
    await heading(page, names[1]);
    expect(await isKept(page)).toBe(true);

    for (const name of [names[2], names[1], names[0]]) {
      await page.goBack();
      await heading(page, name);
    }
    expect(new URL(page.url()).pathname).toBe(pass);
    await page.locator('.heading').getByText('passed').waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  test('keys that are pressed before the next game is there do nothing', async () => {
    const { page, names, pass } = await openLane();
    // The next game is not fetched ahead.
    await page.route('**/review/next?**', (route) => route.abort());
    await page.reload();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (/^\/games\/[^/]+$/.test(new URL(request.url()).pathname)) sent.push(request.method());
    });
    const gate = Promise.withResolvers<void>();
    await page.route(`**${pass}`, async (route) => {
      await gate.promise;
      await route.continue();
    });
    for (const key of ['p', 'p', 'j', 'u', 'p']) await page.keyboard.press(key);
    gate.resolve();
    await heading(page, names[1]);
    expect(sent).toEqual(['POST', 'GET']);
    expect(await decided()).toEqual(['passed']);
    await page.close();
  });

  test('a console that does not answer: the page says so and keeps what was typed, and the same form is sent again', async () => {
    const { page, names, pass } = await openLane();
    await page.route(`**${pass}`, (route) => route.abort('connectionrefused'));
    await page.keyboard.press('r');
    await page.keyboard.press('3');
    await page.getByLabel('Text for the developer').fill('The pictures are of another game.');
    const reject = page.getByRole('button', { name: 'Reject', exact: true });
    await reject.click();
    await page.getByRole('status').getByText('The console did not answer.').waitFor();
    expect(await decided()).toEqual([]);
    await page.unroute(`**${pass}`);
    await reject.click();
    await heading(page, names[1]);
    await page.getByText(`${names[0]}: rejected.`).waitFor();
    expect(await isKept(page)).toBe(true);
    expect(await decided()).toEqual(['rejected The pictures are of another game.']);
    await page.close();
  });

  test('a session that has ended leads to the sign-in, and from there to the game', async () => {
    const { page, names } = await openLane();
    // What was fetched ahead is shown without a session; the next request needs one.
    await page.route('**/review/next?**', async (route) =>
      route.request().headers()['x-prefetch'] === undefined ? route.continue() : route.abort(),
    );
    await page.reload();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await database.sql`delete from operator_sessions`;
    await page.keyboard.press('j');
    await page.getByLabel('Login').fill('olga');
    expect(await page.evaluate('document.body.className')).toBe('plain');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await heading(page, names[1]);

    await page.waitForLoadState();
    await database.sql`delete from operator_sessions`;
    await page.keyboard.press('p');
    await page.getByRole('status').getByText('Your session has ended').waitFor();
    expect(await decided()).toEqual([]);
    const [tab] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'Sign in in another tab' }).click(),
    ]);
    await tab.getByLabel('Login').fill('olga');
    await tab.getByLabel('Password').fill(PASSWORD);
    await tab.keyboard.press('Enter');
    await tab.getByRole('navigation', { name: 'Main' }).waitFor();
    await tab.close();
    await page.keyboard.press('p');
    await page.getByText(`${names[1]}: passed.`).waitFor();
    await page.close();
  });

  test('an error keeps the page and what was typed', async () => {
    const { page, names, pass } = await openLane();
    await page.keyboard.press('r');
    await page.keyboard.press('3');
    await page.getByLabel('Text for the developer').fill('The pictures are of another game.');
    const body = '<main><h1>Not available</h1><p>The database does not answer.</p></main>';
    await page.route(`**${pass}`, (route) => route.fulfill({ status: 503, contentType: 'text/html', body }));
    const reject = page.getByRole('button', { name: 'Reject', exact: true });
    await reject.click();
    await page.getByRole('status').getByText('The database does not answer.').waitFor();
    await page.unroute(`**${pass}`);
    await reject.click();
    await heading(page, names[1]);
    await page.getByText(`${names[0]}: rejected.`).waitFor();
    expect(await decided()).toEqual(['rejected The pictures are of another game.']);
    await page.close();
  });

  test('a part that is fetched again stays when the session has ended, and the page says so until it is refreshed', async () => {
    const { page } = await openLane();
    const title = await page.title();
    const viewers = () => page.evaluate("htmx.trigger('.viewers', 'every')");
    const notice = page.getByText('What this page shows is no longer refreshed.');
    const sessions = await database.sql`select * from operator_sessions`;
    await database.sql`delete from operator_sessions`;
    await viewers();
    await notice.waitFor();
    expect([await page.title(), await page.locator('main').count()]).toEqual([title, 1]);
    await database.sql`insert into operator_sessions ${database.sql(sessions)}`;
    await viewers();
    await notice.waitFor({ state: 'detached' });

    await page.goto(served.url);
    await database.sql`delete from operator_sessions`;
    await page.evaluate("htmx.trigger('#now', 'every')");
    await notice.waitFor();
    await page.getByRole('link', { name: /^New games/ }).waitFor();
    await page.close();
  });

  test('another version of the console is loaded as a page of its own', async () => {
    const { page, names } = await openLane();
    await page.evaluate(
      "document.querySelector('head script[type=module]').setAttribute('src', '/assets/old/console.js')",
    );
    await page.keyboard.press('j');
    await heading(page, names[1]);
    await page.waitForLoadState();
    expect(await isKept(page)).toBe(false);
    await page.close();
  });

  test('a rejection without a reason is not sent, and keeps what was typed', async () => {
    const { page, errors, names } = await openLane();
    await page.keyboard.press('r');
    await page.getByLabel('Text for the developer').fill('A picture is missing.');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await until('the focus on the reason', () =>
      page.evaluate<boolean>(
        "document.activeElement.name === 'reason' && !document.activeElement.validity.valid",
      ),
    );
    expect(await page.getByLabel('Text for the developer').inputValue()).toBe('A picture is missing.');
    await page.getByRole('radio', { name: /other$/ }).check();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await heading(page, names[1]);
    await page.getByText(`${names[0]}: rejected.`).waitFor();
    expect(await decided()).toEqual(['rejected A picture is missing.']);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the last decision of a lane opens the empty lane, whose own forms work', async () => {
    const { page, errors, names } = await openLane();
    for (const name of names) {
      await heading(page, name);
      await page.waitForLoadState();
      await until('the form', () =>
        page.evaluate<boolean>("document.querySelector('#decision form') !== null"),
      );
      await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
      await page.keyboard.press('p');
    }
    await page.getByText('Nothing waits in this lane.').waitFor();
    expect(await page.locator('.side [aria-current]').innerText()).toMatch(/^Review\b/);
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await page.keyboard.press('u');
    await page.getByText(/: undone\./).waitFor();
    await heading(page, names[2]);
    expect(errors).toEqual([]);
    await page.close();
  });
});
