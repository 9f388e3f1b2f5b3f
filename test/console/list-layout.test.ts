// Lists on narrow and wide screens.
import { randomUUIDv7 } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { deleteWorker, recordHeartbeat } from '#db/queries/workers.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addGames, addToken, anOpenRun, fetchedGame, KIM } from '#test/support/factories.ts';
import { findOverflow } from '#test/support/inspect-page.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NAME = 'Northwind Play and Associated Entertainment Holdings of the Northern Territories Limited';

/** How many lines the first element has, and whether it is cut. */
const linesOf = (selector: string): string => `(() => {
  const element = document.querySelector(${JSON.stringify(selector)});
  const { height } = element.getBoundingClientRect();
  const lines = Math.round(height / Number.parseFloat(getComputedStyle(element).lineHeight));
  return { lines, isCut: element.scrollWidth > element.clientWidth };
})()`;

describe.runIf(hasBrowser())('lists in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let page: Page;
  let run_id: string;

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'northwind', { name: NAME });
    const [game_id = ''] = await addGames(sql, 'northwind', 2);
    await decideGames(sql, [{ game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    ({ run_id } = await anOpenRun(sql, 'northwind'));
    await addTestOperator(sql, 'olga', 'viewer');
    await addTestOperator(sql, 'ada', 'admin');
    page = await browser.newPage();
    await signInPage(page, served.url, 'olga');
  });

  test.for(['/review', '/review/appeals', '/games', '/failures', '/applications'])(
    'at 390 pixels the button of the filters of %s is beside a field',
    async (path) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(served.url + path);
      const button = await page.getByRole('button', { name: 'Filter' }).boundingBox();
      const field = await page.locator('.filters :is(input, select)').last().boundingBox();
      expect(Math.abs((button?.y ?? 0) - (field?.y ?? 100))).toBeLessThan(4);
    },
  );

  test('at 390 pixels both buttons of the filters are on one line', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/review?q=none`);
    const [filter, clear] = [
      await page.getByRole('button', { name: 'Filter' }).boundingBox(),
      await page.getByRole('link', { name: 'Clear' }).boundingBox(),
    ];
    expect(clear?.y).toBe(filter?.y);
  });

  test('at 390 pixels the table of workers is not wider than its card', async () => {
    const { sql } = database;
    const worker_id = randomUUIDv7();
    await recordHeartbeat(sql, { worker_id, host: 'worker-7f6d9c5b8-x2x9q', pid: 41, queue: 'redis' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/queues`);
    await page.getByRole('heading', { name: 'Workers' }).waitFor();
    expect(await findOverflow(page)).toEqual([]);
    await deleteWorker(sql, worker_id);
  });

  test.for(['/operators', '/tokens'])(
    'at 390 pixels the state and the button of a row of %s are at its edge, beside its first lines',
    async (path) => {
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
      const admin = await context.newPage();
      await addToken(database.sql, 'northwind');
      await signInPage(admin, served.url, 'ada', path);
      const row = admin.locator('tbody tr').first();
      const edges = [];
      for (const part of ['.badge', '.button']) {
        const { x = 0, y = 0, width = 0 } = (await row.locator(part).first().boundingBox()) ?? {};
        edges.push({ right: Math.round(x + width), y });
      }
      const [state, button] = edges;
      expect(state?.right).toBe(button?.right);
      expect((button?.y ?? 0) - ((await row.boundingBox())?.y ?? 0)).toBeLessThan(80);
      await context.close();
    },
  );

  test('at 390 pixels a run has its time and its state on one line, an application its figures in a sentence', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/runs`);
    const row = page.locator('tbody tr').first();
    const [time, state] = [
      await row.locator('time').boundingBox(),
      await row.locator('.badge').boundingBox(),
    ];
    expect(Math.abs((time?.y ?? 0) - (state?.y ?? 100))).toBeLessThan(5);
    await page.goto(`${served.url}/applications`);
    await page.getByText('2 games, a run is open').waitFor();
  });

  test('at 390 pixels a reason has its buttons on the line of its key', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const admin = await context.newPage();
    await signInPage(admin, served.url, 'ada', '/reasons');
    const row = admin.locator('tbody tr').first();
    const [key, button] = [
      await row.locator('kbd').boundingBox(),
      await row.locator('.button').first().boundingBox(),
    ];
    expect(Math.abs((key?.y ?? 0) - (button?.y ?? 100))).toBeLessThan(12);
    await context.close();
  });

  test('at 390 pixels each queue has its button on the line of its name', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const admin = await context.newPage();
    await signInPage(admin, served.url, 'ada', '/queues');
    const apart = await admin.evaluate<
      number[]
    >(`[...document.querySelectorAll('#queues .lines tbody tr')].map((row) => {
      const [name, button] = ['a', '.button'].map((each) => row.querySelector(each).getBoundingClientRect());
      return Math.abs((name.top + name.bottom - button.top - button.bottom) / 2);
    })`);
    expect(apart.length).toBeGreaterThan(10);
    expect(Math.max(...apart)).toBeLessThan(8);
    await context.close();
  });

  test('the settings of an application do not touch the edge of their card', async () => {
    const context = await browser.newContext();
    const admin = await context.newPage();
    await signInPage(admin, served.url, 'ada', '/applications/northwind#settings');
    const left = async (selector: string) => (await admin.locator(selector).boundingBox())?.x ?? 0;
    expect((await left('#change-settings summary')) - (await left('details:has(#settings)'))).toBeGreaterThan(
      10,
    );
    await context.close();
  });

  test.for(['/games', '/runs'])(
    'the name of an application has one line in %s, and a title',
    async (path) => {
      const name = `td a[href="/applications/northwind"] > [title="${NAME}"]`;
      for (const width of [1_280, 1_600]) {
        await page.setViewportSize({ width, height: 844 });
        await page.goto(served.url + path);
        expect(await page.evaluate(linesOf(name))).toEqual({ lines: 1, isCut: true });
      }
    },
  );

  test('a window of 1,920 pixels is full', async () => {
    await page.setViewportSize({ width: 1_920, height: 1_080 });
    await page.goto(`${served.url}/games`);
    const table = await page.locator('.card').first().boundingBox();
    expect((table?.x ?? 0) + (table?.width ?? 0)).toBeGreaterThan(1_850);
  });

  test('parts of the overview beside each other end at one height', async () => {
    await database.sql`update applications set failing_since = now()`;
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(served.url);
    const heights = await page
      .locator('.columns.tables > .card')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    await database.sql`update applications set failing_since = null`;
    expect(heights).toHaveLength(2);
    expect(heights[0]).toBe(heights[1]);
  });

  test('at 768 pixels the charts of the overview are beside each other', async () => {
    await page.setViewportSize({ width: 768, height: 1_024 });
    await page.goto(served.url);
    const tops = await page
      .locator('.chart')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    expect(tops).toHaveLength(3);
    expect([...new Set(tops)]).toHaveLength(1);
  });

  test('at 768 pixels the third part of the page of an application is as wide as the two above it', async () => {
    await page.setViewportSize({ width: 768, height: 1_024 });
    await page.goto(`${served.url}/applications/northwind`);
    expect((await page.locator('.thirds > .card').last().boundingBox())?.width).toBeGreaterThan(650);
  });

  test('a name from right to left that is cut begins at its own edge, and an id of 200 characters has two lines', async () => {
    const { sql } = database;
    await addApplication(sql, 'arabic', { name: 'مؤسسة الألعاب الكبرى '.repeat(6).trim() });
    const game = fetchedGame({ game_id: 'i'.repeat(200) });
    await upsertGames(sql, 'arabic', [game]);
    await page.setViewportSize({ width: 1_280, height: 844 });
    await page.goto(`${served.url}/review?application=arabic`);
    await page.locator('.game-card .of > [dir]:dir(rtl)').waitFor();
    await page.goto(`${served.url}/games/${game.game_id}`);
    await page.locator('.lead > a:dir(rtl)').waitFor();
    await page.goto(`${served.url}/games?application=arabic`);
    expect((await page.locator('td > .mono').boundingBox())?.height).toBeLessThan(50);
    await page.setViewportSize({ width: 390, height: 844 });
    expect((await page.locator('.titled small').boundingBox())?.height).toBeLessThan(25);
  });

  test('the audit log has room for the name of a game', async () => {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 844 } });
    const admin = await context.newPage();
    await signInPage(admin, served.url, 'ada', '/audit?action=game.pass');
    expect((await admin.locator('.subject').first().boundingBox())?.width).toBeGreaterThan(150);
    await context.close();
  });

  test('the id of an event is its beginning and its end on one line, with a button that copies it', async () => {
    await page.setViewportSize({ width: 1_280, height: 844 });
    await page.goto(`${served.url}/applications/northwind`);
    await page.getByText('The latest 1: 1 not sent').click();
    const id = page.locator('td copy-text');
    await id.getByRole('button', { name: /^Copy [\da-f-]{36}$/ }).waitFor();
    expect(await page.evaluate(linesOf('td copy-text'))).toMatchObject({ lines: 1 });
    const cut = [':first-child', ':nth-child(2)'].map((part) => linesOf(`td copy-text > ${part}`));
    expect(await Promise.all(cut.map((part) => page.evaluate(part)))).toEqual([
      { lines: 1, isCut: true },
      { lines: 1, isCut: false },
    ]);
    const [whole, button] = [await id.boundingBox(), await id.getByRole('button').boundingBox()];
    expect(whole?.height, 'the button is whole').toBeGreaterThanOrEqual(button?.height ?? 100);
  });

  test('a game with a name of 512 letters leaves room for its event', async () => {
    const { sql } = database;
    await addApplication(sql, 'wide');
    const game = fetchedGame({ game_id: 'wide', game_name: 'W'.repeat(512) });
    await upsertGames(sql, 'wide', [game]);
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    await page.setViewportSize({ width: 1_280, height: 844 });
    await page.goto(`${served.url}/applications/wide`);
    await page.getByText('The latest 1: 1 not sent').click();
    // Two lines, with the room above and below them.
    expect((await page.locator('tr:has(copy-text)').boundingBox())?.height).toBeLessThan(68);
  });

  test('a run counts new and changed games in the words of the list of runs', async () => {
    await page.goto(`${served.url}/runs/${run_id}`);
    const words = await page.locator('.stat > span').allTextContents();
    expect(words.slice(0, 4)).toEqual(['listed', 'new', 'changed', 'unchanged']);
  });
});
