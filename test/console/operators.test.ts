// What the pages of administration keep, and what a browser that goes back must not restore.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, startTestConsole, type TestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('the operators in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  let served: TestConsole;

  beforeAll(async () => {
    served = await startTestConsole(database);
    await addTestOperator(database.sql, 'ada', 'admin');
    await addTestOperator(database.sql, 'vic', 'viewer');
  });
  afterAll(async () => {
    await served?.stop();
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
});
