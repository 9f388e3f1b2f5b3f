// How long a reviewer waits for the next game and its five pictures after a decision, in Chromium with the keyboard:
// `node test/bench/decide-in-browser.ts 1000000 [directory to keep the database in]`.
import { openDatabase } from '#db/client.ts';
import { listChangedLane, listNewLane } from '#db/queries/lanes.ts';
import { addOperator, linkOperator, signInUrl } from '#src/identity/operators.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { serveConsole } from '#test/bench/console.ts';
import { addLanePictures } from '#test/bench/lane-pictures.ts';
import { MEASURE_HEAD, measureTimes } from '#test/bench/measure.ts';
import { loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { launchBrowser } from '#test/support/browser.ts';
import { KIM } from '#test/support/factories.ts';

const DECISIONS = 60;
/** Those of the measure, and of the pages of the lane that come next. */
const WITH_PICTURES = 100;

/** When the page's scripts had run and its five pictures were there, in milliseconds since 1970. */
const READY_AT = `(() => {
  const [page] = performance.getEntriesByType('navigation');
  const shown = [...document.querySelectorAll('.frame img')].filter((each) => each.naturalWidth > 0);
  if (shown.length !== 5) throw new Error(shown.length + ' of 5 pictures are there');
  const ends = shown.map(({ src }) => performance.getEntriesByName(src)[0].responseEnd);
  return performance.timeOrigin + Math.max(page.domContentLoadedEventEnd, ...ends);
})()`;

const [games = '10000', kept] = process.argv.slice(2);
await withDatabase(async (loader, databaseUrl) => {
  await using stack = new AsyncDisposableStack();
  const sql = stack.adopt(openDatabase(databaseUrl, { max: 10 }), (pool) => pool.end({ timeout: 5 }));
  await loadReviewedGames(loader, Number(games));
  for (const listLane of [listNewLane, listChangedLane]) {
    const { rows } = await listLane(sql, {}, undefined, WITH_PICTURES);
    await addLanePictures(
      sql,
      rows.map(({ game_id }) => game_id),
    );
  }
  const url = await serveConsole(sql, databaseUrl, stack);

  const login = `bench-${Date.now()}`;
  await addOperator(sql, KIM, { login, name: login, roles: ['reviewer'] });
  const browser = stack.adopt(await launchBrowser(), (each) => each.close());
  const page = await browser.newPage();
  await page.goto(signInUrl(url, await linkOperator(sql, KIM, login, false)));
  say(MEASURE_HEAD);
  for (const lane of ['new', 'changed']) {
    await page.goto(`${url}/review?lane=${lane}`);
    await page.locator('.game-card .name').first().click();
    await page.waitForURL(/\/games\//);
    await page.waitForLoadState();
    // From the key to the next game with its pictures, its scripts run: another decision may follow.
    await measureTimes(
      `${lane} lane: pass, and the next game is ready`,
      async () => {
        const before = page.url();
        const from = performance.timeOrigin + performance.now();
        await page.keyboard.press('p');
        await page.waitForURL((next) => next.href !== before, { waitUntil: 'load' });
        return (await page.evaluate<number>(READY_AT)) - from;
      },
      DECISIONS,
    );
  }
}, kept);
