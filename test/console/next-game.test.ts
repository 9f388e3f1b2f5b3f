// The next game is fetched ahead and shown at once; the decision follows, and a refused one is taken back.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { transact } from '#db/transact.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

describe.runIf(hasBrowser())('the next game in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
    await addTestOperator(database.sql, 'rui', 'reviewer');
  });

  const land = async (count: number): Promise<void> => {
    // A page of the test before may still be read: Postgres ends one of two that wait for each other.
    await transact(
      database.sql,
      (tx) => tx`truncate games, game_revisions, game_audits, game_leases cascade`,
    );
    await addApplication(database.sql, 'app');
    const games = Array.from({ length: count }, (_, n) =>
      fetchedGame({ game_id: `g-${n}`, game_name: `game ${n}` }),
    );
    await upsertGames(database.sql, 'app', games);
  };
  const start = async (login: string): Promise<{ page: Page; errors: string[] }> => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    const errors = collectErrors(page);
    await signInPage(page, served.url, login, '/review');
    await page.getByRole('link', { name: 'Start' }).click();
    await page.waitForURL(/\/games\//);
    return { page, errors };
  };
  const name = async (page: Page) => page.locator('h1').innerText();
  const fetchedAhead = (page: Page) => page.locator('[data-ahead]').waitFor();
  const statuses = async () => {
    const rows = await database.sql<{ name: string; audit_status: string }[]>`
      select game_name as name, audit_status from games where audit_status <> 'pending' order by game_name`;
    return Object.fromEntries(rows.map((row) => [row.name, row.audit_status]));
  };

  test('is shown before the answer to the decision has come, and the answer offers to undo', async () => {
    await land(3);
    const { page, errors } = await start('olga');
    await fetchedAhead(page);
    const first = await name(page);
    const gate = Promise.withResolvers<void>();
    await page.route(`**${new URL(page.url()).pathname}`, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.keyboard.press('p');
    await until('the next game', async () => (await name(page)) !== first);
    expect(await statuses()).toEqual({});
    gate.resolve();
    await page.getByText(`${first}: passed.`).waitFor();
    expect(await statuses()).toEqual({ [first]: 'passed' });
    await page.locator('toast-stack').getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/: undone\./).waitFor();
    expect(await statuses()).toEqual({});
    expect(errors).toEqual([]);
    await page.close();
  });

  test('is not decided by the second click of a double click, which was meant for the game before', async () => {
    await land(4);
    const { page } = await start('olga');
    await fetchedAhead(page);
    const first = await name(page);
    const click = async (clickCount: number) => {
      await page.getByRole('button', { name: 'Pass' }).hover();
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
    };
    await click(1);
    await until('the next game', async () => (await name(page)) !== first);
    const second = await name(page);
    await click(2);
    await click(1);
    await page.getByText(`${second}: passed.`).waitFor();
    expect(await statuses()).toEqual({ [first]: 'passed', [second]: 'passed' });
    await page.close();
  });

  test('is shown while a rejection with the longest texts is sent, which a browser does not keep alive', async () => {
    await land(3);
    const { page, errors } = await start('olga');
    await fetchedAhead(page);
    const first = await name(page);
    await page.keyboard.press('r');
    await page.keyboard.press('1');
    for (const label of ['Text for the developer', 'Note for operators'])
      await page.getByLabel(label).fill('夜'.repeat(4_000));
    await page.keyboard.press('Control+Enter');
    await page.getByText(`${first}: rejected.`).waitFor();
    expect(await statuses()).toEqual({ [first]: 'rejected' });
    expect(errors).toEqual([]);
    await page.close();
  });

  test('is taken back if the content moved meanwhile: the page then shows what moved', async () => {
    await land(3);
    const { page } = await start('olga');
    await fetchedAhead(page);
    const first = await name(page);
    await upsertGames(database.sql, 'app', [
      fetchedGame({ game_id: first.replace('game ', 'g-'), game_name: `${first} moved` }, new Date()),
    ]);
    await page.keyboard.press('p');
    await page.getByText('Nothing was decided: the content moved').waitFor();
    expect(await name(page)).toBe(`${first} moved`);
    expect(await statuses()).toEqual({});
    await page.close();
  });

  test('a second key in the frame of the first decides nothing, and neither does a key that is held down', async () => {
    await land(4);
    const { page } = await start('olga');
    await fetchedAhead(page);
    const first = await name(page);
    await page.evaluate(`for (const repeat of [false, true, false])
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', bubbles: true, repeat }))`);
    await page.getByText(`${first}: passed.`).waitFor();
    expect(await statuses()).toEqual({ [first]: 'passed' });
    await page.close();
  });

  test('is waited for by a key that comes before it was fetched; a second key meanwhile decides nothing', async () => {
    await land(4);
    const { page, errors } = await start('olga');
    await fetchedAhead(page);
    const gate = Promise.withResolvers<void>();
    const led: (string | undefined)[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/review/next?')) led.push(response.headers()['content-location']);
    });
    await page.route('**/review/next?*', async (route) => {
      await gate.promise;
      await route.continue();
    });
    const first = await name(page);
    await page.keyboard.press('p');
    await page.getByText(`${first}: passed.`).waitFor();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    const now = await name(page);
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    gate.resolve();
    await page.getByText(`${now}: passed.`).waitFor();
    await fetchedAhead(page);
    expect(await statuses()).toEqual({ [first]: 'passed', [now]: 'passed' });
    expect(led, 'fetched once for each game').toHaveLength(2);
    expect(page.url()).toBe(new URL(led[0] ?? '', served.url).href);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('is another one for each of two reviewers, and a game that somebody else has says who', async () => {
    await land(6);
    const olga = await start('olga');
    const rui = await start('rui');
    await fetchedAhead(olga.page);
    await fetchedAhead(rui.page);
    const seen: string[] = [];
    for (const { page } of [olga, rui, olga, rui]) {
      const now = await name(page);
      seen.push(now);
      await page.keyboard.press('p');
      await page.getByText(`${now}: passed.`).waitFor();
    }
    expect(new Set(seen).size).toBe(4);
    const url = olga.page.url();
    await rui.page.goto(url);
    await rui.page.getByText('olga reviews this game now.').waitFor();
    for (const { page, errors } of [olga, rui]) {
      expect(errors).toEqual([]);
      await page.close();
    }
  });
});
