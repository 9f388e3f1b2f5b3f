// How long a reviewer waits for the next game and its five pictures after the key that passes a game, in Chromium: with the
// next game fetched ahead, as it is a moment after a game is shown, and with a key at once.
// `node test/bench/decide-in-browser.ts 1000000 [directory to keep the database in]`.
import { chromium } from 'playwright-core';
import { type Database, openDatabase } from '#db/client.ts';
import { laneList } from '#src/lists/review.ts';
import { FLEET_BUFFERS, say, withDatabase } from '#test/bench/api-database.ts';
import { serveConsole } from '#test/bench/console.ts';
import { addLanePictures } from '#test/bench/lane-pictures.ts';
import { MEASURE_HEAD, measureTimes } from '#test/bench/measure.ts';
import { loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { BROWSER_ARGS, BROWSER_PATH } from '#test/support/browser-options.ts';
import { addTestOperator, signInPage } from '#test/support/console.ts';
import { readPage } from '#test/support/lists.ts';

const DECISIONS = 60;
/** Those of both measures, and of the pages of the lane that come next. 200,000 games have as many changed ones. */
const WITH_PICTURES = 200;

/** Notes in each page how long after the last key the first frame has the game of this URL and five pictures. */
const NOTE_READY = `{
  let shown;
  let key = 0;
  addEventListener('keydown', ({ timeStamp }) => (key = performance.timeOrigin + timeStamp), true);
  window.readyAfter = {};
  const look = () => {
    const game = document.querySelector('#decision form')?.action;
    const pictures = [...document.querySelectorAll('.frame img')].filter((each) => each.naturalWidth > 0);
    if (game !== shown && document.readyState !== 'loading' && pictures.length === 5) {
      shown = game;
      window.readyAfter[new URL(game).pathname] = performance.timeOrigin + performance.now() - key;
    }
    requestAnimationFrame(look);
  };
  look();
}`;

const READY_AFTER = `new Promise((resolve) => {
  const look = () => {
    const after = window.readyAfter[location.pathname];
    if (after === undefined) requestAnimationFrame(look);
    else resolve(after);
  };
  look();
})`;

const [games = '200000', kept] = process.argv.slice(2);
const measure = async (loader: Database, databaseUrl: string): Promise<void> => {
  await using stack = new AsyncDisposableStack();
  const sql = stack.adopt(openDatabase(databaseUrl, { max: 10 }), (pool) => pool.end({ timeout: 5 }));
  await loadReviewedGames(loader, Number(games));
  for (const lane of ['new', 'changed'] as const) {
    const { rows } = await readPage(sql, laneList, { lane }, { limit: WITH_PICTURES });
    await addLanePictures(
      sql,
      rows.map(({ game_id }) => game_id),
    );
  }
  const url = await serveConsole(sql, databaseUrl, stack);

  const login = `bench-${Date.now()}`;
  await addTestOperator(sql, login, 'reviewer');
  const browser = stack.adopt(
    await chromium.launch({ executablePath: BROWSER_PATH, args: BROWSER_ARGS }),
    (each) => each.close(),
  );
  const page = await browser.newPage();
  await page.addInitScript(NOTE_READY);
  await signInPage(page, url, login);
  say(MEASURE_HEAD);
  for (const lane of ['new', 'changed']) {
    await page.goto(`${url}/review?lane=${lane}`);
    await page.locator('.game-card .name').first().click();
    await page.waitForURL(/\/games\//);
    await page.evaluate(READY_AFTER);
    for (const isAhead of [true, false])
      await measureTimes(
        `${lane} lane: pass, ${isAhead ? 'the next game is fetched ahead' : 'a key at once'}`,
        async () => {
          const before = page.url();
          const isReady = isAhead ? 'body:has(shortcut-scope[ready]) a[data-ahead]' : 'shortcut-scope[ready]';
          await page.locator(isReady).waitFor({ state: 'attached' });
          await page.keyboard.press('p');
          await page.waitForURL((next) => next.href !== before && next.pathname.startsWith('/games/'));
          return page.evaluate<number>(READY_AFTER);
        },
        DECISIONS,
      );
  }
};
await withDatabase(measure, kept, FLEET_BUFFERS);
