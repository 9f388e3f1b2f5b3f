// Rejected games in narrow windows of the portal.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { upsertGames } from '#db/queries/games.ts';
import { useNarrowPortal } from '#test/portal/narrow-portal.ts';
import { hasBrowser } from '#test/support/browser.ts';
import { fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';

describe.runIf(hasBrowser())('rejected games in the portal, in narrow windows', () => {
  const { database, served, page: currentPage } = useNarrowPortal();
  let page: Page;
  beforeAll(() => {
    page = currentPage();
  });

  test.for([390, 768])('at %i pixels a rejected game says once when it was decided', async (width) => {
    const { sql } = database;
    const game = fetchedGame({ game_id: 'owl', game_name: 'Owl' });
    await upsertGames(sql, 'studio-mizu', [game]);
    const rejection = { audit_status: 'rejected', reason: 'rights' } as const;
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], rejection, KIM);
    await page.setViewportSize({ width, height: 844 });
    await page.goto(new URL('/portal/games?status=rejected', served.url).href);
    const row = page.getByRole('row').filter({ hasText: 'owl' });
    expect(await row.locator('time:visible').count()).toBe(1);
  });

  test('the appeal of the only rejected game has a badge as wide as its words', async () => {
    const { sql } = database;
    const [owl] = await sql<
      { game_id: string }[]
    >`select game_id from games where application_game_id = 'owl'`;
    await insertAppeal(sql, { game_id: owl?.game_id ?? '', text: 'It is ours.' });
    await page.setViewportSize({ width: 1_280, height: 844 });
    await page.goto(new URL('/portal', served.url).href);
    await page.getByRole('heading', { name: 'Your appeal of Owl waits for a reviewer' }).waitFor();
    expect((await page.getByText('appeal waits').boundingBox())?.width).toBeLessThan(200);
  });

  test.for([390, 1_280])('at %i pixels a quote is nearer its own game than the next one', async (width) => {
    const { sql } = database;
    const games = ['bat', 'cat'].map((game_id) => fetchedGame({ game_id, game_name: game_id }));
    await upsertGames(sql, 'studio-mizu', games);
    for (const { game_id } of games) {
      const rejection = { audit_status: 'rejected', reason: 'rights', text: `Whose is ${game_id}?` } as const;
      await decideGames(sql, [{ game_id, revision: 1 }], rejection, KIM);
    }
    await page.setViewportSize({ width, height: 844 });
    await page.goto(new URL('/portal', served.url).href);
    const gap = await page
      .locator('.reasons-of blockquote + span')
      .first()
      .evaluate(
        (name) =>
          name.getBoundingClientRect().top -
          (name.previousElementSibling?.getBoundingClientRect().bottom ?? 0),
      );
    expect(gap).toBeGreaterThanOrEqual(10);
  });

  test.for([390, 1_280])(
    'at %i pixels a long name and a long note have a few lines of a list',
    async (width) => {
      const { sql } = database;
      const game = fetchedGame({ game_id: 'long', game_name: 'W'.repeat(512) });
      await upsertGames(sql, 'studio-mizu', [game]);
      const rejected = { audit_status: 'rejected', reason: 'other', text: 'm'.repeat(2_000) } as const;
      await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], rejected, KIM);
      await page.setViewportSize({ width, height: 844 });
      await page.goto(new URL('/portal/games?status=rejected', served.url).href);
      const row = page.getByRole('row').filter({ hasText: 'WWW' });
      expect((await row.boundingBox())?.height).toBeLessThan(200);
    },
  );

  test('the state of an appeal is as wide as its words', async () => {
    const { sql } = database;
    const game = fetchedGame({ game_id: 'ox', game_name: 'Velvet Ox' });
    await upsertGames(sql, 'studio-mizu', [game]);
    const rejected = { audit_status: 'rejected', reason: 'incomplete' } as const;
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], rejected, KIM);
    await insertAppeal(sql, { game_id: game.game_id, text: 'It is whole.' });
    for (const [path, width] of [
      ['/portal', 390],
      ['/portal/games?status=rejected', 390],
      ['/portal/games?status=rejected', 1_280],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(new URL(path, served.url).href);
      const [badge, words] = await page
        .getByText('appeal waits')
        .first()
        .evaluate((each) => {
          const range = each.ownerDocument.createRange();
          range.selectNodeContents(each);
          return [each, range].map((one) => one.getBoundingClientRect().width);
        });
      expect((badge ?? 0) - (words ?? 0), `${path} at ${width}`).toBeLessThan(24);
    }
  });
});
