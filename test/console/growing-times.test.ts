// Times are read again while a page is open: as they grow, nothing moves.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { hasBrowser, listShiftsOfTime, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addGames, addToken, anOpenRun, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NAME = 'Northwind Play and Associated Entertainment Holdings of the Northern Territories Limited';

const ADDRESS = { url: 'https://games.example/events', secret: Buffer.alloc(0), secret_keys: [] };

describe.runIf(hasBrowser())('growing times in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'northwind', { name: NAME });
    const [game_id = ''] = await addGames(sql, 'northwind', 2);
    await decideGames(sql, [{ game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    await anOpenRun(sql, 'northwind');
    await upsertEventWebhook(sql, { ...ADDRESS, application_id: 'northwind' });
    await sql`
      update event_webhooks set failures = 3, failing_since = now() - interval '5 hours', last_error = 'timeout',
        next_attempt_at = now() + interval '59 hours'`;
    await sql`
      update applications set failing_since = now() - interval '5 hours', failed_runs = 3,
        next_attempt_at = now() + interval '59 hours' where application_id = 'northwind'`;
    await addToken(sql, 'northwind');
    await addTestOperator(sql, 'ada', 'admin');
  });

  test.for([390, 768, 1_280])('at %i pixels nothing moves when times grow', async (width) => {
    const { sql } = database;
    let appealed = '';
    for (const id of [`twin-a-${width}`, `twin-b-${width}`]) {
      await addApplication(sql, id, { name: NAME });
      const [passed = '', rejected = ''] = await addGames(sql, id, 3);
      await decideGames(sql, [{ game_id: passed, revision: 1 }], { audit_status: 'passed' }, KIM);
      const reason = { audit_status: 'rejected', reason: 'rights', text: NAME } as const;
      await decideGames(sql, [{ game_id: rejected, revision: 1 }], reason, KIM);
      await insertAppeal(sql, { game_id: rejected, text: 'It is ours.' });
      appealed = rejected;
      const failed = await anOpenRun(sql, id);
      await closeRun(sql, failed, { outcome: 'failed', reason: `page 3: ${NAME}` });
    }
    const moved: unknown[] = [];
    const paths = [
      '/',
      '/review',
      '/review?view=gallery',
      '/review/appeals',
      '/games',
      '/runs',
      '/applications',
    ];
    const others = [
      '/audit',
      '/operators',
      '/figures',
      '/tokens',
      '/account',
      '/failures',
      '/applications/northwind',
    ];
    const context = await browser.newContext({ viewport: { width, height: 1_200 } });
    await signInPage(await context.newPage(), served.url, 'ada');
    for (const path of [...paths, ...others, `/games/${appealed}`]) {
      const open = async (each: Page) => {
        await each.goto(served.url + path);
        await each.getByRole('navigation', { name: 'Main' }).waitFor();
        if (path === '/review') await each.getByTitle('similar name elsewhere').first().waitFor();
      };
      const page = await context.newPage();
      const shifts = await listShiftsOfTime(page, open);
      moved.push(...shifts.map((shift) => `${path}: ${shift}`));
      await page.close();
    }
    await context.close();
    expect(moved).toEqual([]);
  });

  test('a time of months ago stays a date', async () => {
    const { sql } = database;
    await addApplication(sql, 'old');
    const date = '2026-01-31';
    await upsertGames(sql, 'old', [fetchedGame({ game_id: 'kite' }, new Date(`${date}T12:00:00Z`))]);
    const { token } = await addToken(sql, 'old');
    const page = await browser.newPage({ timezoneId: 'Asia/Tokyo' });
    await signInDeveloper(page, served.url, token);
    await page.goto(`${served.url}/portal/game?id=kite`);
    // Its title has the local time when the script has refreshed it.
    const fetched = page.locator('.facts time[data-utc]');
    await fetched.waitFor();
    expect(await fetched.textContent()).toBe(date);
    expect(await fetched.getAttribute('title')).toMatch(/9:00:00.*\(2026-01-31 12:00:00 UTC\)$/);
    await page.context().close();
  });

  test.for([390, 1_280])('at %i pixels nothing moves in the portal when times grow', async (width) => {
    const { sql } = database;
    const id = `moving-${width}`;
    await addApplication(sql, id);
    await upsertEventWebhook(sql, { ...ADDRESS, application_id: id });
    const game = fetchedGame({ game_id: 'boat' });
    await upsertGames(sql, id, [game]);
    const reason = { audit_status: 'rejected', reason: 'rights' } as const;
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], reason, KIM);
    await insertAppeal(sql, { game_id: game.game_id, text: 'It is ours.' });
    await sql`update event_deliveries set attempts = 1, last_status = 500, next_attempt_at = now() + interval '59 hours'`;
    await sql`update applications set failing_since = now() - interval '5 hours' where application_id = ${id}`;
    const { token } = await addToken(sql, id);
    const context = await browser.newContext({ viewport: { width, height: 1_200 } });
    await signInDeveloper(await context.newPage(), served.url, token);
    // The button of an id comes after the first frame.
    await context.route('**/copy-text.js', (route) => sleep(500).then(() => route.continue()));
    for (const path of ['/portal', '/portal/game?id=boat', '/portal/events']) {
      const page = await context.newPage();
      expect(await listShiftsOfTime(page, (each) => each.goto(served.url + path)), path).toEqual([]);
      await page.close();
    }
    await context.close();
  });
});
