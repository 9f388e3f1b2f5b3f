import type { Page } from 'playwright-core';
import { beforeAll } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { useBrowser } from '#test/support/browser.ts';
import { signInDeveloper, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** The portal of an application with one passed game, `kite`, and a page on which its developer is signed in. */
export const useNarrowPortal = () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let page: Page;

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'studio-mizu', { name: 'スタジオ水 Mizu' });
    const game = fetchedGame({ game_id: 'kite', game_name: 'Kite' });
    await upsertGames(sql, 'studio-mizu', [game]);
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    const { token } = await addToken(sql, 'studio-mizu');
    await sql`update api_tokens set name = 'the nightly export of the data warehouse'`;
    page = await browser.newPage({ viewport: { width: 768, height: 900 } });
    await signInDeveloper(page, served.url, token);
  });

  return { database, browser, served, page: () => page };
};
