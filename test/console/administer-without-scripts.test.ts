// The forms of administration, of one's own account, and of the portal do what they say without a script.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { createEventBox } from '#src/sealing/event-box.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  addTestOperator,
  PASSWORD,
  signInDeveloper,
  signInPage,
  useTestConsole,
} from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame, testKeys } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('administration without scripts, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let game_id = '';

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    await addApplication(sql, 'app');
    const game = fetchedGame({ game_id: 'boat', game_name: 'Boat', game_icon: [], game_store_pic: [] });
    await upsertGames(sql, 'app', [game]);
    game_id = game.game_id;
  });

  const newPage = async (): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    return context.newPage();
  };
  const open = async (path: string, login = 'olga'): Promise<Page> => {
    const page = await newPage();
    await signInPage(page, served.url, login, path);
    return page;
  };

  test('an operator is added, gets a link and another role, is disabled and enabled', async () => {
    const page = await open('/operators');
    const add = page.locator('form', { has: page.getByRole('button', { name: 'Add operator' }) });
    await add.getByLabel('Login').fill('vic');
    await add.getByLabel('Your password, again').fill(PASSWORD);
    await add.getByRole('button', { name: 'Add operator' }).click();
    await page.getByText('Give this link to vic.').waitFor();
    const manage = async (name: string, done: string) => {
      await page.goto(`${served.url}/operators`);
      await page.locator('summary', { hasText: 'Manage vic' }).click();
      const form = page.locator('form', { has: page.getByRole('group', { name: 'Roles of vic' }) });
      if (name === 'Set roles') await form.getByLabel('admin').check();
      await form.getByLabel('Reason').fill('A new colleague.');
      await form.getByLabel('Your password, again').fill(PASSWORD);
      await form.getByRole('button', { name, exact: true }).click();
      await page.getByText(done).first().waitFor();
    };
    await manage('Set roles', 'The roles of vic are set.');
    await manage('New sign-in link', 'Give this link to vic.');
    await manage('End sessions', 'Sessions of vic ended: 0.');
    await manage('Disable', 'vic is disabled.');
    await manage('Enable', 'vic is active.');
    const [vic] = await database.sql`select roles, status from operators where login = 'vic'`;
    expect(vic).toEqual({ roles: ['viewer', 'admin'], status: 'active' });
  });

  test('a reason is added, changed and retired', async () => {
    const page = await open('/reasons');
    const add = page.locator('form', { has: page.getByLabel('Code') });
    await add.getByLabel('Code').fill('too_loud');
    await add.getByLabel('What the developer reads').fill('Too loud');
    await add.getByRole('button', { name: 'Save' }).click();
    await page.getByText('too_loud is in use.').waitFor();
    await page.locator('summary', { hasText: 'Edit too_loud' }).click();
    await page.getByLabel('What the developer reads').locator('visible=true').first().fill('It is too loud');
    await page.getByRole('button', { name: 'Save' }).locator('visible=true').first().click();
    await page.getByRole('cell', { name: 'It is too loud' }).waitFor();
    await page.getByRole('button', { name: 'Retire too_loud' }).click();
    await page.getByText('too_loud is retired.').waitFor();
  });

  test('a token is revoked, a queue is paused and resumed, failed games are requested again', async () => {
    const { sql } = database;
    await addToken(sql, 'app');
    await recordFailures(sql, 'app', 'query_game_detail', [
      {
        application_game_id: 'kite',
        kind: 'invalid_data',
        reasons: [{ path: 'game_icon.3', code: 'too_long' }],
      },
    ]);
    const page = await open('/tokens');
    await page.getByRole('button', { name: /^Revoke/ }).click();
    await page.getByText('The token is revoked').waitFor();
    await page.goto(`${served.url}/queues`);
    await page
      .getByRole('button', { name: /^Pause/ })
      .first()
      .click();
    await page.getByText(/ is paused: it starts no new job/).waitFor();
    await page
      .getByRole('button', { name: /^Resume/ })
      .first()
      .click();
    await page.getByText(/ runs again\./).waitFor();
    await page.goto(`${served.url}/failures?application=app`);
    await page.getByRole('button', { name: 'Pull the failed games of app' }).click();
    await page.getByText('Requested again: 1 game.').waitFor();
  });

  test('an application is pulled, checked, paused and resumed, and a game gets a package URL', async () => {
    const page = await open('/applications/app');
    await page
      .getByRole('button', { name: /^(Pull|Run|Sync)/ })
      .first()
      .click();
    await page.getByText('A run has started.').waitFor();
    await page.goto(`${served.url}/applications/app`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('app is paused.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('app is active.').waitFor();
    await page.goto(`${served.url}/games/${game_id}`);
    await page.locator('summary', { hasText: 'Package URL' }).click();
    await page.locator('form[action$="/package"] input').fill('https://games.example/boat.zip');
    await page.locator('form[action$="/package"] button').click();
    await page.getByText('The package URL is set.').waitFor();
  });

  test('a person switches single keys off, ends other sessions, and changes the password', async () => {
    await addTestOperator(database.sql, 'ada', 'viewer');
    await open('/', 'ada');
    const page = await open('/account', 'ada');
    await page.getByRole('button', { name: 'Switch single keys off' }).click();
    await page.getByText('Single keys do nothing.').waitFor();
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByText('Other sessions that ended: 1.').waitFor();
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByLabel('New password').fill('an umbrella of seven colours');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password is changed.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('a developer has a game pulled and the webhooks checked, and events sent again', async () => {
    const { sql } = database;
    await addApplication(sql, 'theirs');
    await upsertGames(sql, 'theirs', [fetchedGame({ game_id: 'kite' })]);
    const { token } = await addToken(sql, 'theirs');
    await createEventBox(sql, testKeys);
    const page = await newPage();
    await signInDeveloper(page, served.url, token);
    const visit = (path: string) => page.goto(`${served.url}/portal/${path}`);
    await visit('game?id=kite');
    await page.getByRole('button', { name: 'Read this game now' }).click();
    await page.getByRole('status').waitFor();
    await visit('checks');
    await page.getByRole('button', { name: /check/i }).click();
    await page.getByRole('status').waitFor();
    await visit('events');
    await page.getByText('Set an address…').click();
    await page.getByLabel('Address (https)').fill('https://games.example/events');
    await page.locator('[name="api_token"]').fill(token);
    await page.getByRole('button', { name: 'Set address' }).click();
    await page.getByText(/whsec_/).waitFor();
    await visit('events');
    await page.getByText('Send events again…').click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Events to be sent now: 0.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    expect(
      await sql`select application_game_id from refresh_requests where application_id = 'theirs'`,
    ).toEqual([{ application_game_id: 'kite' }]);
  });
});
