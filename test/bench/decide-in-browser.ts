// How long a reviewer waits for the next game and its five pictures after a decision, in Chromium with the keyboard:
// `node test/bench/decide-in-browser.ts 1000000 [directory to keep the database in]`.
import { chromium } from 'playwright-core';
import { openDatabase } from '#db/client.ts';
import { laneList } from '#src/lists/review.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { serveConsole } from '#test/bench/console.ts';
import { addLanePictures } from '#test/bench/lane-pictures.ts';
import { MEASURE_HEAD, measureTimes } from '#test/bench/measure.ts';
import { loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { BROWSER_ARGS, BROWSER_PATH } from '#test/support/browser-options.ts';
import { KIM } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { addOperator, linkOperator } from '#test/support/operate.ts';

const DECISIONS = 60;
/** Those of the measure, and of the pages of the lane that come next. */
const WITH_PICTURES = 100;

/** In each page: `readyAt` becomes the time since 1970 of the first frame with the game of this URL and five pictures. */
const NOTE_READY = `{
  let shown;
  window.readyAt = {};
  const look = () => {
    const game = document.querySelector('#decision form')?.action;
    const pictures = [...document.querySelectorAll('.frame img')].filter((each) => each.naturalWidth > 0);
    if (game !== shown && document.readyState !== 'loading' && pictures.length === 5) {
      shown = game;
      window.readyAt[new URL(game).pathname] = performance.timeOrigin + performance.now();
    }
    requestAnimationFrame(look);
  };
  look();
}`;

const READY_AT = `new Promise((resolve) => {
  const look = () => {
    const at = window.readyAt[location.pathname];
    if (at === undefined) requestAnimationFrame(look);
    else resolve(at);
  };
  look();
})`;

const [games = '10000', kept] = process.argv.slice(2);
await withDatabase(async (loader, databaseUrl) => {
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
  await addOperator(sql, KIM, { login, name: login, roles: ['reviewer'] });
  const browser = stack.adopt(
    await chromium.launch({ executablePath: BROWSER_PATH, args: BROWSER_ARGS }),
    (each) => each.close(),
  );
  const page = await browser.newPage();
  await page.addInitScript(NOTE_READY);
  await page.goto(`${url}/sign-in?link=${await linkOperator(sql, KIM, login, false)}`);
  say(MEASURE_HEAD);
  for (const lane of ['new', 'changed']) {
    await page.goto(`${url}/review?lane=${lane}`);
    await page.locator('.game-card .name').first().click();
    await page.waitForURL(/\/games\//);
    await page.evaluate(READY_AT);
    // From the key to the next game with its pictures, its scripts run: another decision may follow.
    await measureTimes(
      `${lane} lane: pass, and the next game is ready`,
      async () => {
        const before = page.url();
        const from = performance.timeOrigin + performance.now();
        await page.keyboard.press('p');
        await page.waitForURL((next) => next.href !== before && next.pathname.startsWith('/games/'));
        return (await page.evaluate<number>(READY_AT)) - from;
      },
      DECISIONS,
    );
  }
}, kept);
