// What a person typed is not lost with its session, or with a refusal.
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('what was typed, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  const at = (path: string): string => new URL(path, served.url).href;
  const game = fetchedGame({ game_id: 'g-1', game_name: 'Kite' });

  beforeAll(async () => {
    for (const login of ['olga', 'rui']) await addTestOperator(database.sql, login, 'reviewer');
    await database.sql`update operators set name = 'Kim Lee'`;
    await addApplication(database.sql, 'kites');
    await upsertGames(database.sql, 'kites', [game]);
  });

  test('a developer whose session has ended signs in again, and the message is there until it is sent', async () => {
    const { token } = await addToken(database.sql, 'kites');
    const page = await browser.newPage();
    const enter = async () => {
      await signInDeveloper(page, served.url, token);
      await page.goto(at('/portal/game?id=g-1'));
    };
    const text = page.getByLabel('Write to the reviewers');
    const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();
    await enter();
    await text.fill('The icon is ours: the contract is in the mail.');
    await database.sql`delete from portal_sessions`;
    await send();
    await page.getByText('Your session has ended.').waitFor();
    await enter();
    expect(await text.inputValue()).toBe('The icon is ours: the contract is in the mail.');
    await send();
    await page.getByText('Sent to the reviewers.').waitFor();
    await page.goto(at('/portal/game?id=g-1'));
    expect(await text.inputValue()).toBe('');
    await page.close();
  });

  test('a note is in the form of notes alone, and only for who wrote it, not for another one of that name', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', `/games/${game.game_id}`);
    await page.getByText('Note for operators…').click();
    const note = page.getByLabel('Note: its developer never reads it');
    await note.fill('Ask rui.');
    await database.sql`delete from operator_sessions`;
    await page.getByRole('button', { name: 'Keep the note' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await signInPage(page, served.url, 'rui', `/games/${game.game_id}`);
    expect(await note.inputValue()).toBe('');
    await signInPage(page, served.url, 'olga', `/games/${game.game_id}`);
    expect(await note.inputValue()).toBe('Ask rui.');
    expect(await page.getByLabel('Message: its developer reads it').inputValue()).toBe('');
    await page.close();
  });

  test('an administrator whose session has ended has the boxes and the roles of a form again, not the password', async () => {
    await addTestOperator(database.sql, 'ada', 'admin');
    const page = await browser.newPage();
    await signInPage(page, served.url, 'ada', '/operators');
    const form = page.locator('section', { hasText: 'Add an operator' });
    const role = form.getByRole('checkbox', { name: 'reviewer', exact: true });
    await form.getByLabel('Login').fill('kim');
    await form.getByLabel('Your password').fill('lantern');
    await role.check();
    await database.sql`delete from operator_sessions`;
    await form.getByRole('button').click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await signInPage(page, served.url, 'ada', '/operators');
    expect([await form.getByLabel('Login').inputValue(), await role.isChecked()]).toEqual(['kim', true]);
    expect(await form.getByLabel('Your password').inputValue()).toBe('');
    await page.close();
  });

  test('the texts of a rejection stay when the content moved meanwhile', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', `/games/${game.game_id}`);
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await page.keyboard.press('r');
    await page.keyboard.press('1');
    await page.getByLabel('Text for the developer').fill('The text ends in the middle.');
    const moved = fetchedGame({ game_id: 'g-1', game_name: 'Kite', game_info: 'Other.' }, new Date());
    await upsertGames(database.sql, 'kites', [moved]);
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('Nothing was decided: the content moved').waitFor();
    expect(await page.getByLabel('Text for the developer').inputValue()).toBe('The text ends in the middle.');
    await page.close();
  });
});
