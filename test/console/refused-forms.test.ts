// A form that is refused has again what was typed into it.
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const ODD = '"><b>&\'$& 霓虹';

describe.runIf(hasBrowser())('in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  const game = fetchedGame({ game_id: 'g-1' });

  beforeAll(async () => {
    await addTestOperator(database.sql, 'ada', 'admin', 'reviewer');
    await addTestOperator(database.sql, 'vic', 'viewer');
    await addApplication(database.sql, 'kites', { name: 'Kites' });
    await upsertGames(database.sql, 'kites', [game]);
  });
  const open = async (path: string) => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'ada', path);
    return page;
  };

  test('an operator is not added with a wrong password: all but the password is there', async () => {
    const page = await open('/operators');
    const form = page.locator('section', { hasText: 'Add an operator' });
    const role = (name: string) => form.getByRole('checkbox', { name, exact: true });
    const value = (name: string) => form.locator(`input[name="${name}"]`).inputValue();
    await form.getByLabel('Login').fill('kim');
    await form.getByLabel('Name').fill(ODD);
    await role('viewer').uncheck();
    await role('reviewer').check();
    await form.getByLabel(/^Reason/).fill('For the night.');
    await form.getByLabel('Your password').fill('not the password');
    await form.getByRole('button').click();
    await page.getByText('the password is wrong').waitFor();
    expect([await value('login'), await value('name'), await value('reason')]).toEqual([
      'kim',
      ODD,
      'For the night.',
    ]);
    expect(await value('password')).toBe('');
    expect([await role('viewer').isChecked(), await role('reviewer').isChecked()]).toEqual([false, true]);
    // The form of another operator has nothing of it, and the next page neither.
    expect(await page.locator('.below input[name="reason"]').first().inputValue()).toBe('');
    await form.getByLabel('Your password').fill(PASSWORD);
    await form.getByRole('button').click();
    await page.getByText('Give this link to kim').waitFor();
    await page.goto(`${served.url}/operators`);
    expect(await form.getByLabel('Login').inputValue()).toBe('');
    await page.close();
  });

  test('settings: what others changed meanwhile is shown, and what was typed stays', async () => {
    const page = await open('/applications/kites#settings');
    await page.goto(`${served.url}/applications/kites#settings`);
    await page.locator('#change-settings summary').click();
    await page.getByLabel('Name', { exact: true }).fill(ODD);
    await page.getByLabel('Games every').fill('soon');
    await page.getByLabel('Review priority').selectOption('high');
    await database.sql`update applications set rate = 7 where application_id = 'kites'`;
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('every must be a duration').waitFor();
    const value = (name: string) => page.locator(`#settings [name="${name}"]`).inputValue();
    expect([await value('name'), await value('every'), await value('rate')]).toEqual([ODD, 'soon', '7']);
    expect(await value('review_priority')).toBe('high');
    await page.close();
  });

  test('a reason, an address and a text', async () => {
    const page = await open('/reasons');
    const form = page.locator('section', { hasText: 'Add a reason' });
    await form.getByLabel('Code').fill('other');
    await form.getByLabel('What the developer reads').fill(ODD);
    await form.getByLabel('Text that').fill(`One\n${ODD}`);
    await form.getByRole('button').click();
    await page.getByText('There is a reason other already').waitFor();
    expect(await form.getByLabel('What the developer reads').inputValue()).toBe(ODD);
    expect(await form.getByLabel('Text that').inputValue()).toBe(`One\n${ODD}`);
    expect(await page.locator('.below [name="label"]').last().inputValue()).toBe(
      'Another reason, see the text',
    );

    await page.goto(`${served.url}/applications/kites`);
    await page.getByText('Set an address…').click();
    const address = page.locator('#events [name="url"]');
    await address.fill('http://10.0.0.1/hook');
    await page.getByLabel('API token').fill('secret');
    await page.getByRole('button', { name: 'Set address' }).click();
    await page.locator('.notice.bad').waitFor();
    expect(await address.inputValue()).toBe('http://10.0.0.1/hook');
    expect(await page.locator('[name="api_token"]').inputValue()).toBe('');
    await page.close();
  });
});
