// A reviewer's day by keyboard: games with five pictures each, every sixth rejected. It takes few keys, and nothing that
// decides is below the first screen or moves.
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addLanePictures } from '#test/bench/lane-pictures.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** The 500 of a day take five minutes: `LANE_GAMES=500 npx vitest run test/console/lane-day.slow`. */
const GAMES = Number(process.env.LANE_GAMES ?? 50);
/** 1,100 a day. */
const KEYS_A_GAME = 2.2;
const PICTURES = 5;
const isRejected = (n: number): boolean => n % 6 === 0;

/** Of what decides a game, what a reviewer would have to scroll to; `none` if the page lacks its pictures. */
const BELOW = `(() => {
  const parts = [...document.querySelectorAll('h1, .frame img, #decision button')].filter((each) => each.checkVisibility());
  if (parts.filter(({ naturalWidth }) => naturalWidth > 0).length !== ${PICTURES}) return 'none';
  return parts.filter((each) => each.getBoundingClientRect().bottom > innerHeight).map(({ outerHTML }) => outerHTML).join();
})()`;

/** A shift is an error of the page, so it is noted on whichever page it happens. */
const SHOUT_AT_SHIFTS = `new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    console.error('the layout shifts by ' + value + ': ' + sources.map(({ node }) => node?.outerHTML?.slice(0, 80)));
}).observe({ type: 'layout-shift', buffered: true })`;

describe.runIf(hasBrowser())('a reviewer’s day in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer');
    await addApplication(sql, 'app');
    const games = Array.from({ length: GAMES }, (_, n) =>
      fetchedGame({ game_id: `g-${n}`, game_name: `Game number ${n}` }),
    );
    await upsertGames(sql, 'app', games);
    await addLanePictures(
      sql,
      games.map(({ game_id }) => game_id),
    );
  });

  test('a day of 500 games takes at most 1,100 keys and no scrolling, and nothing moves', async () => {
    const { sql } = database;
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    const errors = collectErrors(page);
    await page.addInitScript(SHOUT_AT_SHIFTS);
    await signInPage(page, served.url, 'olga', '/review');
    let keys = 0;
    const press = async (key: string) => {
      keys += 1;
      await page.keyboard.press(key);
    };
    await page.getByRole('link', { name: 'Start' }).click();
    await page.waitForURL(/\/games\//);
    for (let n = 0; n < GAMES; n += 1) {
      const name = await page.locator('h1').innerText();
      await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
      if (n % 10 === 0) {
        await page.waitForFunction(
          "[...document.querySelectorAll('.frame img')].every((each) => each.complete)",
        );
        expect(await page.evaluate(BELOW), name).toBe('');
      }
      if (isRejected(n)) for (const key of ['r', '1', 'Control+Enter']) await press(key);
      else await press('p');
      await page.getByText(`${name}: ${isRejected(n) ? 'rejected' : 'passed'}.`).waitFor();
    }
    expect(await page.evaluate('scrollY')).toBe(0);
    const rows = await sql<{ audit_status: string; count: number }[]>`
      select audit_status, count(*)::int from games group by audit_status order by audit_status`;
    const rejected = Array.from({ length: GAMES }, (_, n) => isRejected(n)).filter(Boolean).length;
    expect([...rows]).toEqual([
      { audit_status: 'passed', count: GAMES - rejected },
      { audit_status: 'rejected', count: rejected },
    ]);
    expect(keys / GAMES).toBeLessThanOrEqual(KEYS_A_GAME);
    expect(errors).toEqual([]);
    await page.close();
  });
});
