import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FleetPart } from '#src/processes/fleet-part.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { landPicturedGames, newPrefix, startTestMedia } from '#test/support/media.ts';
import { aPicture, type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const SCREENSHOTS = process.env.SCREENSHOTS;

describe.runIf(hasBrowser())('pictures in Chromium', () => {
  const database = useTestDatabase();
  const prefix = newPrefix();
  const browser = useBrowser();
  const served = useTestConsole(database, { prefix });
  let media: FleetPart;
  let server: PictureServer;
  let ids: string[];

  beforeAll(async () => {
    server = await startPictureServer();
    await addApplication(database.sql, 'harbour');
    ids = await landPicturedGames(database.sql, server, 'harbour', 4);
    await addTestOperator(database.sql, 'olga', 'reviewer');
    media = await startTestMedia(database.databaseUrl, prefix);
  });
  afterAll(async () => {
    await media?.stop();
    await server?.close();
  });

  /** The thumbnails of a game's page that are loaded. */
  const loaded = (page: Page) =>
    page.evaluate(
      `[...document.querySelectorAll('.shot img')].filter((image) => image.complete && image.naturalWidth > 0).length`,
    );
  const shoot = async (page: Page, name: string) => {
    if (SCREENSHOTS !== undefined)
      await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
  };

  test('the next game opens with its pictures, nothing leaves for another origin, and the application is asked once for each', async () => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
    const errors = collectErrors(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(served.url)) elsewhere.push(request.url());
    });
    await signInPage(page, served.url, 'olga', '/review?lane=new');
    await until('the icons of the lane', async () => {
      await page.goto(`${served.url}/review?lane=new`);
      return (await page.locator('.game-card img').count()) === 4;
    });
    await shoot(page, 'pictures-review');
    await page.goto(`${served.url}/games/${ids[0]}?lane=new`);
    await until('three thumbnails', async () => (await loaded(page)) === 3);
    await until('the pictures of the next game', async () => {
      await page.locator('[data-ahead]').waitFor();
      const fetched =
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('w=1024')).length";
      if ((await page.evaluate(fetched)) === 6) return true;
      await page.reload();
      return false;
    });
    await page.waitForLoadState('networkidle');
    await shoot(page, 'pictures-game');
    await page.evaluate('performance.clearResourceTimings()');
    await page.keyboard.press('p');
    await page.waitForURL((url) => url.pathname === `/games/${ids[1]}`);
    await until('the pictures of the next game', async () => (await loaded(page)) === 3);
    const transferred = await page.evaluate(`(() => {
      const shown = new Set([...document.querySelectorAll('.shot img')].map(({ src }) => src));
      const entries = performance.getEntriesByType('resource').filter(({ name }) => shown.has(name));
      return entries.reduce((sum, { transferSize }) => sum + transferSize, 0);
    })()`);
    expect(transferred).toBe(0);

    // The pictures of the game after the next are requested when the page shows the next.
    await until('each picture is requested', () =>
      [...server.files.keys()].every((path) => server.requests.some((request) => request.path === path)),
    );
    const counts = Map.groupBy(server.requests, ({ path }) => path);
    for (const path of server.files.keys()) expect([path, counts.get(path)?.length]).toEqual([path, 1]);
    for (const { headers } of server.requests) {
      expect(headers).not.toHaveProperty('authorization');
      expect(headers).not.toHaveProperty('cookie');
    }
    expect(elsewhere).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('a browser loads the width that its screen shows, and the picture is as large on both', async () => {
    await addApplication(database.sql, 'wide');
    const [game_id = ''] = await landPicturedGames(database.sql, server, 'wide', 1);
    for (const [path, { width, height }] of [
      ['/wide/0-0.png', { width: 512, height: 512 }],
      ['/wide/0-1.png', { width: 1_280, height: 720 }],
    ] as const)
      server.files.set(path, { bytes: await aPicture(7, 'png', { width, height }) });
    for (const [deviceScaleFactor, widths] of [
      [1, ['w=256', 'w=512', 'w=1024']],
      [2, ['w=512', 'w=1024', 'w=1024']],
    ] as const) {
      const page = await browser.newPage({ deviceScaleFactor });
      await signInPage(page, served.url, 'olga', `/games/${game_id}`);
      await until('three thumbnails', async () => (await loaded(page)) === 3);
      const images = await page.evaluate<[string, number][]>(
        `[...document.querySelectorAll('.shot img')].map((image) => [image.currentSrc.split('?')[1], image.naturalWidth])`,
      );
      const order = images.toSorted(([, one], [, other]) => one - other);
      expect(order).toEqual([
        [widths[0], 256],
        [widths[1], 512],
        [widths[2], 800],
      ]);
      await page.close();
    }
  });

  test('bytes that change behind the address of a passed game return it to the changed lane with both pictures', async () => {
    const [game_id = ''] = ids;
    const status = async () =>
      (
        await database.sql<{ audit_status: string; audit_time: Date | null; revision: number }[]>`
        select audit_status, audit_time, revision from games where game_id = ${game_id}`
      )[0];
    // The page of the next game is shown before the decision of the test above is stored.
    await until('the game is passed', async () => (await status())?.audit_status === 'passed');
    const [{ url = '' } = {}] = await database.sql<{ url: string }[]>`
      select game_store_pic[1] as url from games where game_id = ${game_id}`;
    await media.stop();
    media = await startTestMedia(database.databaseUrl, prefix, { PICTURE_RECHECK: '2s' });
    server.files.set(new URL(url).pathname, {
      bytes: await aPicture(99, 'png', { width: 800, height: 450 }),
      etag: '"new"',
    });
    await database.sql`update pictures set next_check_at = now(), fresh_until = now() where url = ${url}`;
    await until('the game is back', async () => (await status())?.audit_status === 'pending');
    expect(await status()).toMatchObject({ audit_time: null, revision: 1 });

    const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
    const errors = collectErrors(page);
    await signInPage(page, served.url, 'olga', '/review?lane=changed');
    await page.locator('.game-card .name').first().click();
    await page.getByText('as decided', { exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const pair = page.locator('.pair');
    expect(await pair.locator('img').count()).toBe(2);
    const hashes = await pair
      .locator('img')
      .evaluateAll((images) => images.map((image) => (image as unknown as { src: string }).src));
    expect(new Set(hashes).size).toBe(2);
    await shoot(page, 'pictures-changed');
    await page.getByRole('button', { name: 'Pass' }).click();
    await page.getByText('harbour').first().waitFor();
    await until('the game is passed again', async () => (await status())?.audit_status === 'passed');
    expect(errors).toEqual([]);
    await page.close();
  });

  test('a picture that arrived after the page had loaded, and then changed, is not decided on', async () => {
    await media.stop();
    await addApplication(database.sql, 'late');
    const [game_id = ''] = await landPicturedGames(database.sql, server, 'late', 1);
    const [{ url = '' } = {}] = await database.sql<{ url: string }[]>`
      select game_store_pic[1] as url from games where game_id = ${game_id}`;
    const hash = async () =>
      (
        await database.sql<{ sha256: string | null }[]>`
        select encode(sha256, 'hex') as sha256 from pictures where url = ${url}`
      )[0]?.sha256;
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', `/games/${game_id}`);
    expect(await loaded(page)).toBe(0);
    media = await startTestMedia(database.databaseUrl, prefix, { PICTURE_RECHECK: '2s' });
    await until('the pictures', async () => (await loaded(page)) === 3);
    const before = await hash();
    const bytes = await aPicture(98, 'png', { width: 800, height: 450 });
    server.files.set(new URL(url).pathname, { bytes, etag: '"new"' });
    await database.sql`update pictures set fresh_until = now() where url = ${url}`;
    await page.evaluate('fetch(location.href)');
    await until('other bytes', async () => (await hash()) !== before);
    await page.keyboard.press('p');
    await page.getByText('Nothing was decided: a picture changed behind its address meanwhile.').waitFor();
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await page.keyboard.press('p');
    await page.getByText('passed.').waitFor();
    await page.close();
  });
});
