// Ten reviewers in one lane, each with a browser that is killed now and then: no game is shown to two within its lease,
// and none is left over.
import { type Browser, chromium, type Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser } from '#test/support/browser.ts';
import { BROWSER_ARGS, BROWSER_PATH } from '#test/support/browser-options.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** 10,000 take a quarter of an hour on two cores: `LANE_GAMES=10000 npx vitest run test/console/ten-reviewers.slow`. */
const GAMES = Number(process.env.LANE_GAMES ?? 40);
const REVIEWERS = Array.from({ length: 10 }, (_, n) => `reviewer-${n}`);
/** Browsers are killed at one game in this many, before the key or right after it. */
const KILLED_ONE_IN = 40;
const LEASE_MS = 60_000;

/** When a game came to a reviewer's screen. */
type Shown = { login: string; from: number };

describe.runIf(hasBrowser())('ten reviewers in Chromium', () => {
  const database = useTestDatabase();
  const served = useTestConsole(database);
  const shown = new Map<string, Shown[]>();
  let kills = 0;

  beforeAll(async () => {
    const { sql } = database;
    for (const login of REVIEWERS) await addTestOperator(sql, login, 'reviewer');
    await addApplication(sql, 'app');
    const games = Array.from({ length: GAMES }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
    await upsertGames(sql, 'app', games);
  });

  const countWaiting = async (): Promise<number> => {
    const [row] = await database.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from games where audit_status = 'pending'`;
    return row?.waiting ?? 0;
  };

  const openBrowser = async (
    cookie: string,
  ): Promise<{ page: Page; browser: Browser; kill: () => Promise<void> }> => {
    const server = await chromium.launchServer({ executablePath: BROWSER_PATH, args: BROWSER_ARGS });
    const browser = await chromium.connect(server.wsEndpoint());
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    context.setDefaultTimeout(120_000);
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url: served.url }]);
    return { page: await context.newPage(), browser, kill: () => server.kill() };
  };

  /** Decides on games until none is left, or the browser is killed. @returns whether it was killed */
  const review = async (login: string, page: Page): Promise<boolean> => {
    while ((await countWaiting()) > 0) {
      await page.goto(new URL('/review/next?lane=new', served.url).href);
      while (new URL(page.url()).pathname.startsWith('/games/')) {
        const { pathname } = new URL(page.url());
        shown.set(pathname, [...(shown.get(pathname) ?? []), { login, from: Date.now() }]);
        const isLast = kills === 0 || Math.random() * KILLED_ONE_IN < 1;
        if (isLast && Math.random() < 0.5) return true;
        await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
        await page.keyboard.press('p');
        if (isLast) return true;
        await page.waitForURL((url) => url.pathname !== pathname);
      }
      // What is left is on the screen of others, or was on one that was killed.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    return false;
  };

  const work = async (login: string): Promise<void> => {
    const cookie = await signIn(served.url, login);
    for (let isKilled = true; isKilled; ) {
      const { page, browser, kill } = await openBrowser(cookie);
      isKilled = await review(login, page);
      await kill();
      kills += isKilled ? 1 : 0;
      await browser.close();
    }
  };

  test('no game is shown to two within its lease, and none is left over', {
    timeout: 7_200_000,
  }, async () => {
    await Promise.all(REVIEWERS.map(work));
    expect(await countWaiting()).toBe(0);
    const decisions = await database.sql<{ game_id: string; decided_by: string }[]>`
      select game_id, decided_by from game_audits`;
    expect(decisions).toHaveLength(GAMES);
    expect(new Set(decisions.map(({ game_id }) => game_id)).size).toBe(GAMES);
    for (const { game_id, decided_by } of decisions) {
      const seen = shown.get(`/games/${game_id}`) ?? [];
      expect(seen.at(-1)?.login, `who decided on ${game_id} was the last to see it`).toBe(decided_by);
      for (const [n, { login, from }] of seen.slice(1).entries()) {
        const before = seen[n] as Shown;
        if (before.login === login) continue;
        const what = `${game_id} was shown to ${before.login}, then to ${login}`;
        expect(from - before.from, what).toBeGreaterThan(LEASE_MS - 1_000);
      }
    }
  });
});
