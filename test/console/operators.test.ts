// What the pages of administration keep, and what a browser that goes back must not restore.
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signInPage, useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('the operators in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    await addTestOperator(database.sql, 'ada', 'admin');
    await addTestOperator(database.sql, 'vic', 'viewer');
  });

  test('back from another page, the boxes show the roles that an operator has, not those of the form that was left', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'ada', '/operators');
    const boxesOf = (login: string) => page.getByRole('group', { name: `Roles of ${login}` });
    const manage = (login: string) => page.locator('summary', { hasText: login }).click();
    await manage('vic');
    await boxesOf('vic').getByLabel('kyc officer').check();
    await page.getByRole('link', { name: 'Reasons' }).click();
    await page.getByRole('heading', { level: 1, name: 'Reasons' }).waitFor();
    // Comes before vic: the boxes of the table are at other places.
    await addTestOperator(database.sql, 'uma', 'reviewer');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Operators' }).waitFor();
    await page.waitForLoadState();
    for (const [login, role] of [
      ['ada', 'admin'],
      ['uma', 'reviewer'],
      ['vic', 'viewer'],
    ] as const) {
      await manage(login);
      const checked = await boxesOf(login)
        .locator('input:checked')
        .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value')));
      expect([login, checked]).toEqual([login, [role]]);
    }
    await page.close();
  });

  test('a page with a new sign-in link makes no other one when it is loaded again', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'ada', '/operators');
    await page.locator('summary', { hasText: 'Manage vic' }).click();
    const password = page.getByLabel('Your password, again').locator('visible=true').first();
    await password.fill(PASSWORD);
    // Enter chooses none of the acts.
    await password.press('Enter');
    await page.getByRole('button', { name: 'link' }).locator('visible=true').first().click();
    await page.getByText('Give this link to vic.').waitFor();
    // The script that replaces the address has run then.
    await page.waitForLoadState();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Operators' }).waitFor();
    expect(await page.getByText('Give this link to vic.').count()).toBe(0);
    await page.close();
  });

  test('without a script, the words of a reason are edited in its row, and an operator is managed below its row', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await signInPage(page, served.url, 'ada', '/reasons');
    const labels = page.getByLabel('What the developer reads');
    await page.locator('summary', { hasText: 'Edit broken_media' }).click();
    const label = labels.locator('visible=true').first();
    expect(await label.inputValue()).toBe('An icon, a picture or the video does not load');
    await label.fill('A picture or the video does not load');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('broken_media is in use.').waitFor();
    await page.getByRole('cell', { name: 'A picture or the video does not load' }).waitFor();

    await page.getByRole('link', { name: 'Operators' }).click();
    await addTestOperator(database.sql, 'wim', 'viewer');
    await page.reload();
    expect(await page.getByRole('button', { name: 'Disable' }).count()).toBe(0);
    await page.locator('summary', { hasText: 'Manage wim' }).click();
    await page.getByLabel('Your password, again').locator('visible=true').first().fill(PASSWORD);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('wim is disabled.').waitFor();
    await context.close();
  });
});
