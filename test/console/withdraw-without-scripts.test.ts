// The forms that withdraw the games of a suspect run do what they say without a script.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('withdrawals without scripts, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let path = '';

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer');
    await addApplication(sql, 'app');
    const games = ['Mast', 'Oar', 'Sail'].map((name) => fetchedGame({ game_id: name, game_name: name }));
    await upsertGames(sql, 'app', games);
    const run = await anOpenRun(sql, 'app');
    await closeRun(sql, run, { outcome: 'suspect', reason: 'It lists no game.' });
    await sql`update sync_runs set listing_end = 'complete'`;
    await sql`insert into vanishing_games (run_id, game_id) select ${run.run_id}, game_id from games`;
    path = `/runs/${run.run_id}`;
  });

  const open = async (login: string): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await signInPage(page, served.url, login, path);
    return page;
  };
  const press = async (page: Page, name: string, done: string): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('status').getByText(done).waitFor();
  };
  const withdrawn = async () => {
    const rows = await database.sql`
      select game_name from games where withdrawn_at is not null order by game_name`;
    return rows.map(({ game_name }) => game_name);
  };

  test('a reviewer alone withdraws a selected game', async () => {
    const page = await open('olga');
    await page.getByLabel('Select Oar').check();
    await press(page, 'Withdraw the selected games', 'Games withdrawn: 1.');
    expect(await withdrawn()).toEqual(['Oar']);
  });

  test('with a second reviewer, one requests all of them, the other approves, and the first withdraws them', async () => {
    await addTestOperator(database.sql, 'rui', 'reviewer');
    const page = await open('olga');
    await page.getByLabel('Reason, for the audit log').fill('Their developer wrote so.');
    await press(page, 'Request to withdraw all of them', 'Requested. Another reviewer can approve it');
    await press(await open('rui'), 'Approve', 'Approved. olga has 15 minutes');
    await page.reload();
    await press(page, 'Withdraw the games', 'Games withdrawn: 2.');
    expect(await withdrawn()).toEqual(['Mast', 'Oar', 'Sail']);
  });
});
