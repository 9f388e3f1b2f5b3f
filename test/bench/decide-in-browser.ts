// How long a reviewer waits for the next game after a decision, in Chromium with the keyboard:
// `node test/bench/decide-in-browser.ts 1000000 [directory to keep the database in]`.
import { openDatabase } from '#db/client.ts';
import { addOperator, linkOperator, signInUrl } from '#src/identity/operators.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { serveConsole } from '#test/bench/console.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';
import { loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { launchBrowser } from '#test/support/browser.ts';
import { KIM } from '#test/support/factories.ts';

const DECISIONS = 60;

const [games = '10000', kept] = process.argv.slice(2);
await withDatabase(async (loader, databaseUrl) => {
  await using stack = new AsyncDisposableStack();
  const sql = stack.adopt(openDatabase(databaseUrl, { max: 10 }), (pool) => pool.end({ timeout: 5 }));
  await loadReviewedGames(loader, Number(games));
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
    // From the key to the next game, with its scripts run: another decision may follow.
    await measure(
      `${lane} lane: pass, and the next game is ready`,
      async () => {
        const before = page.url();
        await page.keyboard.press('p');
        await page.waitForURL((next) => next.href !== before, { waitUntil: 'domcontentloaded' });
      },
      DECISIONS,
    );
  }
}, kept);
