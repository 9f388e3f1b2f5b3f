// The portal in narrow windows.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { useNarrowPortal } from '#test/portal/narrow-portal.ts';
import { hasBrowser } from '#test/support/browser.ts';
import { anOpenRun, fetchedGame } from '#test/support/factories.ts';

describe.runIf(hasBrowser())('the portal in Chromium, in narrow windows', () => {
  const { database, browser, served, page: currentPage } = useNarrowPortal();
  let page: Page;
  beforeAll(() => {
    page = currentPage();
  });

  test.for([390, 768])('at %i pixels the name of an application is whole', async (width) => {
    await page.setViewportSize({ width, height: 844 });
    const isCut = await page.locator('.who strong').evaluate((name) => name.scrollWidth > name.clientWidth);
    expect(isCut).toBe(false);
  });

  test('at 768 pixels times end in one line, and what runs counted begins in one', async () => {
    const { sql } = database;
    for (const [outcome, reason] of [
      ['succeeded', null],
      ['failed', 'page 1: timeout'],
    ] as const)
      await closeRun(sql, await anOpenRun(sql, 'studio-mizu'), { outcome, reason });
    await sql`update sync_runs set listed = 1, invalid = 1`;
    await page.setViewportSize({ width: 768, height: 900 });
    await page.goto(new URL('/portal/game?id=kite', served.url).href);
    const ends = await page.locator('#timeline time').evaluateAll((times) =>
      times.map((time) => {
        const range = time.ownerDocument.createRange();
        range.selectNodeContents(time);
        return Math.round(range.getBoundingClientRect().right);
      }),
    );
    expect([ends.length, new Set(ends).size]).toEqual([2, 1]);
    await page.goto(new URL('/portal/runs', served.url).href);
    const counts = await page
      .getByText('1 invalid')
      .evaluateAll((each) => each.map((one) => one.getBoundingClientRect().x));
    expect([counts.length, new Set(counts).size]).toEqual([2, 1]);
  });

  test.for([
    [390, 4],
    [768, 3],
  ] as const)('at %i pixels an event has at most %i lines', async ([width, lines]) => {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(new URL('/portal/events', served.url).href);
    // With the room above and below it.
    expect((await page.locator('tr[data-item]').boundingBox())?.height).toBeLessThan(lines * 21 + 22);
    // An id is its end here, and copied whole.
    const id = page.locator('tr[data-item] copy-text');
    const copy = id.getByRole('button', { name: /^Copy [\da-f-]{36}$/ });
    await copy.waitFor();
    const room = await copy
      .first()
      .evaluate((each) => [
        each.getBoundingClientRect().right,
        each.closest('td')?.getBoundingClientRect().right ?? 0,
      ]);
    expect(room[0], 'the button is not cut').toBeLessThanOrEqual((room[1] ?? 0) + 1);
    expect(await id.locator('span').first().isVisible()).toBe(false);
    expect(await id.locator('span').last().isVisible()).toBe(true);
    // Its time ends at the edge of its row, and on a phone the button below it, too.
    const rights = await page
      .locator('tr[data-item]')
      .locator(width === 390 ? 'td.age, .copy' : 'td.age')
      .evaluateAll((each) =>
        each.map((one) => {
          const range = one.ownerDocument.createRange();
          range.selectNodeContents(one);
          const text = one.matches('.copy') ? one : range;
          return (
            (one.closest('.card')?.getBoundingClientRect().right ?? 0) - text.getBoundingClientRect().right
          );
        }),
      );
    expect(Math.max(...rights)).toBeLessThan(20);
    expect(Math.max(...rights) - Math.min(...rights)).toBeLessThan(2);
  });

  test('on a phone the time of a passed game has a head, and a game that was found has its state and its decision', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(new URL('/portal/games?status=passed', served.url).href);
    const head = page.getByRole('columnheader', { name: 'First seen' });
    const row = page.getByRole('row').filter({ hasText: 'kite' });
    expect((await head.boundingBox())?.x).toBe((await row.locator('td.age:visible').boundingBox())?.x);
    await row.getByText('Decided').waitFor();
    await page.goto(new URL('/portal/games?q=Kite', served.url).href);
    await row.getByText('passed').waitFor();
    expect(await row.locator('time:visible').count()).toBe(1);
  });

  test.for([390, 768, 1280])('at %i pixels a rule that does not hold names its case once', async (width) => {
    const { sql } = database;
    const rule = { name: 'detail.game-icon', rule: 'An array.', problem: 'A string.', outcome: 'failed' };
    await sql`
      insert into application_checks (check_id, application_id, requested_by, requested_at, finished_at, failed, cases)
      values (gen_random_uuid(), 'studio-mizu', 'the portal', now(), now(), 1, ${sql.json([rule])})`;
    await page.setViewportSize({ width, height: 844 });
    await page.goto(new URL('/portal/checks', served.url).href);
    expect(await page.getByText('detail.game-icon').filter({ visible: true }).count()).toBe(1);
  });

  test('on a phone the button of the checks has a line of its own, as wide as the card', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(new URL('/portal/checks', served.url).href);
    const title = await page.locator('#checks h2').boundingBox();
    const card = await page.locator('#checks').boundingBox();
    const button = await page.getByRole('button', { name: /^Run the checks/ }).boundingBox();
    expect(button?.y).toBeGreaterThanOrEqual((title?.y ?? 0) + (title?.height ?? 0));
    // The edges of the card, and the room inside them.
    expect((card?.width ?? 0) - (button?.width ?? 0)).toBeLessThan(36);
  });

  test('on a phone an address is set by a button as wide as the other fields, and a withdrawn game is a row as others', async () => {
    const { sql } = database;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(new URL('/portal/events', served.url).href);
    await page.getByText('Set an address…').click();
    const wide = [page.getByLabel('Address (https)'), page.getByRole('button', { name: 'Set address' })];
    const [field, button] = await Promise.all(wide.map(async (each) => (await each.boundingBox())?.width));
    expect(button).toBe(field);
    await upsertGames(sql, 'studio-mizu', [fetchedGame({ game_id: 'gone' })]);
    await sql`update games set withdrawn_at = now() where application_game_id = 'gone'`;
    await page.goto(new URL('/portal/games?status=withdrawn', served.url).href);
    const row = page.getByRole('row').filter({ hasText: 'gone' });
    const [name, why] = [row.locator('.titled a'), row.getByText('no longer names it')];
    const lefts = await Promise.all(
      [name, why].map((each) =>
        each.evaluate((one) => {
          const range = one.ownerDocument.createRange();
          range.selectNodeContents(one);
          return Math.round(range.getBoundingClientRect().x);
        }),
      ),
    );
    expect(lefts[0]).toBe(lefts[1]);
    expect(await row.locator('time:visible').count()).toBe(1);
  });

  test('on a phone the state of a game follows its name, and the search for another one is last', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(new URL('/portal/game?id=kite', served.url).href);
    const parts = [
      page.getByRole('heading', { level: 1 }),
      page.locator('.lead .badge'),
      page.getByRole('heading', { name: 'The game is live' }),
      page.getByRole('heading', { name: 'Texts as the platform has them' }),
      page.getByRole('searchbox'),
    ];
    const tops = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.y ?? 0));
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    expect(tops[0]).toBeGreaterThan(0);
    await page.goto(new URL('/portal/game?id=kits', served.url).href);
    const none = [
      page.getByRole('heading', { name: 'No game found' }),
      page.getByRole('searchbox'),
      page.getByText('If it is the game_id of a new game'),
    ];
    const places = await Promise.all(none.map(async (part) => (await part.boundingBox())?.y ?? 0));
    expect(places, 'what is to be corrected is first').toEqual(places.toSorted((a, b) => a - b));
  });

  test.for([390, 768])(
    'at %i pixels an outcome stands apart from its time, and a short id is in one line',
    async (width) => {
      const ids = ['game-000061', 'game-000062', 'game-000063'];
      const failures = ids.map((application_game_id) => ({
        application_game_id,
        kind: 'timeout',
        reasons: [],
      }));
      await recordFailures(database.sql, 'studio-mizu', 'query_game_detail', failures);
      await database.sql`update sync_runs set started_at = now() - interval '45 minutes'`;
      await page.setViewportSize({ width, height: 844 });
      await page.goto(new URL('/portal/runs', served.url).href);
      const gaps = await page.locator('.lines tr:has(.badge)').evaluateAll((rows) =>
        rows.map((row) => {
          const range = row.ownerDocument.createRange();
          range.selectNodeContents(row.querySelector('time') ?? row);
          const badge = row.querySelector('.badge')?.getBoundingClientRect();
          return (badge?.left ?? 0) - range.getBoundingClientRect().right;
        }),
      );
      expect(gaps.length).toBeGreaterThan(1);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(8);
      const lines = await page
        .locator('td a.mono')
        .evaluateAll((links) => links.map((each) => each.getClientRects().length));
      expect(lines).toEqual([1, 1, 1]);
      await database.sql`update sync_runs set outcome = 'succeeded', reason = null`;
      await page.reload();
      const step = await page.getByRole('button', { name: 'Read my list now' }).boundingBox();
      const failure = await page.locator('.card.warn tbody tr').last().boundingBox();
      expect((step?.y ?? 0) > (failure?.y ?? 0), 'on a phone, what is to be corrected is first').toBe(
        width === 390,
      );
    },
  );

  test('fingers have room on a phone, and Safari zooms into no field', async () => {
    const storageState = await page.context().storageState();
    const viewport = { width: 390, height: 844 };
    const phone = await browser.newPage({ viewport, hasTouch: true, isMobile: true, storageState });
    await phone.goto(new URL('/portal/events', served.url).href);
    const controls = phone.locator(':is(main, .who) :is(.button, input):visible');
    const heights = await controls.evaluateAll((each) =>
      each.map((one) => one.getBoundingClientRect().height),
    );
    expect(heights.length).toBeGreaterThan(3);
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(40);
    const size = await phone
      .getByRole('searchbox')
      .evaluate((field) => field.ownerDocument.defaultView?.getComputedStyle(field).fontSize);
    expect(size).toBe('16px');
  });
});
