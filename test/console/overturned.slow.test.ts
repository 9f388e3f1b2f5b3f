// How soon a game is live after its rejection is overturned: a reviewer in Chromium, the console and the API as processes.
import { describe, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { DETAIL, post } from '#test/support/api.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { createSmallFleet, withoutRedis } from '#test/support/small-fleet.ts';
import { until } from '#test/support/until.ts';

const GAMES = 10;

describe.runIf(hasBrowser() && !withoutRedis())('in Chromium, beside processes', () => {
  const browser = useBrowser();

  test('a rejection is appealed in the portal; overturned, the game is served within a second', async () => {
    await using fleet = await createSmallFleet();
    expect((await fleet.run('migrate')).exit).toBe(0);
    const sql = openDatabase(fleet.env.DATABASE_URL ?? '', { max: 2, applicationName: 'test' });
    await using closing = new AsyncDisposableStack();
    closing.defer(() => sql.end());
    await addApplication(sql, 'kites');
    const games = Array.from({ length: GAMES }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
    await upsertGames(sql, 'kites', games);
    await addTestOperator(sql, 'rui', 'reviewer');
    const { token } = await addToken(sql, 'kites');
    const rejection = { audit_status: 'rejected', reason: 'other', text: 'Whose icon is this?' } as const;
    const seen = games.map(({ game_id }) => ({ game_id, revision: 1 }));
    await decideGames(sql, seen, rejection, KIM);
    const [console_, api] = await Promise.all([fleet.start('console'), fleet.start('api')]);
    const at = (path: string): string => new URL(path, console_.address).href;

    const developer = await (await browser.newContext()).newPage();
    await signInDeveloper(developer, console_.address, token);
    for (let n = 0; n < GAMES; n += 1) {
      await developer.goto(at(`/portal/game?id=g-${n}`));
      await developer.getByText('Whose icon is this?').first().waitFor();
      await developer.getByLabel('Write to the reviewers').fill(`It is ours: no. ${n}.`);
      await developer.getByText('Appeal…').click();
      await developer.getByRole('button', { name: 'Appeal the rejection' }).click();
      await developer.getByText('The appeal waits for another reviewer.').waitFor();
    }

    const isServed = async (game_id: string): Promise<boolean> => {
      const { body } = await post(new URL(api.address).origin, DETAIL, token, { game_id });
      return body.data?.audit_status === 'passed';
    };
    const rui = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
    await signInPage(rui, console_.address, 'rui');
    const waits: number[] = [];
    await rui.goto(at('/review/appeals/next'));
    for (const { game_id } of games) {
      await rui.waitForURL((url) => url.pathname === `/games/${game_id}`);
      await rui.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
      await rui.keyboard.press('o');
      await rui.getByLabel('Why, for the developer').first().fill('The register has it.');
      expect(await isServed(game_id)).toBe(false);
      const from = performance.now();
      await rui.keyboard.press('Control+Enter');
      await until('the game is served as passed', () => isServed(game_id));
      waits.push(Math.round(performance.now() - from));
    }
    const [event] = await sql<{ type: string; why: string }[]>`
      select type, data ->> 'why' as why from events order by event_number desc limit 1`;
    expect(event).toEqual({ type: 'game.passed', why: 'appeal' });
    process.stdout.write(`milliseconds from the key to the API: ${waits.join(', ')}\n`);
    // The machine of the tests may stop for a moment.
    expect(waits.toSorted((a, b) => a - b)[GAMES / 2]).toBeLessThan(1_000);
  });
});
