import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

describe.runIf(hasBrowser())('reviewing in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer', 'admin');
  });

  const land = async (application_id: string, count: number) => {
    await addApplication(database.sql, application_id);
    const games = Array.from({ length: count }, (_, n) =>
      fetchedGame({ game_id: `g-${n}`, game_name: `${application_id} ${n}` }),
    );
    await upsertGames(database.sql, application_id, games);
    return games;
  };
  const statuses = async (application_id: string) => {
    const rows = await database.sql<{ audit_status: string; count: number }[]>`
      select audit_status, count(*)::int as count from games where application_id = ${application_id} group by 1`;
    return Object.fromEntries(rows.map(({ audit_status, count }) => [audit_status, count]));
  };
  const openPage = async (): Promise<{ page: Page; errors: string[] }> => {
    const page = await browser.newPage();
    return { page, errors: collectErrors(page) };
  };
  const change = (application_id: string, changes: Parameters<typeof fetchedGame>[0]) =>
    upsertGames(database.sql, application_id, [fetchedGame(changes, new Date())]);

  test('an operator added on the command line sets a password by link and decides twenty games by keyboard alone', async () => {
    await land('keys', 20);
    const env = { DATABASE_URL: database.databaseUrl, CONSOLE_URL: served.url };
    const added = documentOf(
      await runCli(['operator', 'add', 'Kim', '--name', 'Kim', '--role', 'reviewer', '--json'], env),
    );
    const { page, errors } = await openPage();
    await page.goto(added.sign_in_url);
    await page.getByLabel('New password').fill('aaaaaaaaaaaaaaaaaa');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('easy to guess').waitFor();
    await page.getByLabel('New password').fill('seven quiet herons leap');
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();

    await page.goto(`${served.url}/review?lane=new&application=keys`);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: /^keys \d+$/ });
    const seen = new Set<string>();
    for (let n = 0; n < 20; n += 1) {
      const name = await until('the next game', async () => {
        const text = await heading.textContent();
        return text !== null && !seen.has(text) && text;
      });
      seen.add(name);
      await page.waitForLoadState();
      await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
      if (n % 4 !== 3) {
        await page.keyboard.press('p');
        continue;
      }
      await page.keyboard.press('r');
      await page.keyboard.press('3');
      await page.keyboard.type('The pictures are of another game.');
      await page.keyboard.press('Control+Enter');
    }
    await page.getByText('Nothing waits in this lane.').waitFor();
    expect(await statuses('keys')).toEqual({ passed: 15, rejected: 5 });
    const [rejection] =
      await database.sql`select reason, text from game_audits where audit_status = 'rejected' limit 1`;
    expect(rejection).toEqual({ reason: 'misleading', text: 'The pictures are of another game.' });
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await page.keyboard.press('u');
    await page.getByText(/: undone\./).waitFor();
    expect(await statuses('keys')).toEqual({ passed: 15, rejected: 4, pending: 1 });
    expect(errors.filter((error) => !error.includes('422'))).toEqual([]);
    await page.close();
  });

  test('changed words are marked, and a decision on content that moved meanwhile does not stand and shows what moved', async () => {
    const [game] = await land('moves', 1);
    const { page, errors } = await openPage();
    await signInPage(page, served.url, 'olga', `/games/${game?.game_id}`);
    await page.getByRole('button', { name: 'Pass' }).click();
    await page.getByText('moves 0: passed.').waitFor();
    await change('moves', {
      game_id: 'g-0',
      game_name: 'moves 0',
      game_info: '夜の列車が港に着く。Bring the boats home.',
    });
    await page.goto(`${served.url}/review?lane=changed`);
    await page.getByRole('link', { name: 'moves 0' }).click();
    await page.locator('ins', { hasText: '列車' }).first().waitFor();
    await page.locator('del', { hasText: 'fog' }).first().waitFor();

    await change('moves', { game_id: 'g-0', game_name: 'moves zero', game_info: 'Bring the trams home.' });
    await page.getByRole('button', { name: 'Pass' }).click();
    await page.getByText('Nothing was decided: the content moved from revision 2 to 3').waitFor();
    await page.locator('ins', { hasText: 'zero' }).waitFor();
    expect(await statuses('moves')).toEqual({ pending: 1 });
    await page.getByRole('button', { name: 'Pass' }).click();
    await page.getByText('moves zero: passed.').waitFor();
    expect(await statuses('moves')).toEqual({ passed: 1 });
    expect(errors).toEqual([]);
    await page.close();
  });

  test('fifty games are passed in one go, two of which had moved, and the batch is undone', async () => {
    await land('many', 50);
    const { page, errors } = await openPage();
    await signInPage(page, served.url, 'olga', '/review?lane=new&application=many');
    await page.getByLabel('Select all').check();
    await page.getByText('50 selected').waitFor();
    // Games that landed together are in the order of their ids, which is arbitrary.
    const names = (await page.locator('.game-card .name').allTextContents()).filter((_, n) =>
      [7, 9].includes(n),
    );
    for (const game_name of names)
      await change('many', { game_id: game_name.replace('many ', 'g-'), game_name: `${game_name} moved` });
    await page.getByRole('button', { name: 'Pass' }).click();
    await page.getByRole('button', { name: 'Pass all 50' }).click();
    const [first, second] = names;
    const text = `48 passed. 2 not decided (2 moved meanwhile): ${first} moved, ${second} moved.`;
    await page.getByText(text).waitFor();
    expect(await statuses('many')).toEqual({ passed: 48, pending: 2 });
    expect(await page.getByText('not decided', { exact: true }).count()).toBe(2);
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('48 undone.').waitFor();
    expect(await statuses('many')).toEqual({ pending: 50 });
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the audit log holds all of it, in order', async () => {
    const rows = await listAudit(database.sql, { limit: 1_000 });
    const actions = rows.toReversed().map(({ actor, action }) => `${actor} ${action}`);
    const count = (text: string) => actions.filter((action) => action === text).length;
    expect(actions.indexOf('kim session.sign_in')).toBeLessThan(actions.indexOf('kim game.pass'));
    expect(count('kim game.pass')).toBe(15);
    expect(count('kim game.reject')).toBe(5);
    expect(count('kim game.undo')).toBe(1);
    expect(count('olga game.pass')).toBe(50);
    expect(count('olga game.undo')).toBe(48);
    expect((await verifyAudit(database.sql)).broken).toBeNull();
  });
});
