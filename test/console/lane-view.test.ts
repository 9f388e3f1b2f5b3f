import { test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addGames } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const browser = useBrowser();
const served = useTestConsole(database);

test.runIf(hasBrowser())('each lane opens as the list or the gallery that was chosen last', async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  await addApplication(database.sql, 'app');
  await addGames(database.sql, 'app', 2);
  const page = await browser.newPage();
  const choose = (name: string) => page.getByRole('link', { name, exact: true }).click();
  await signInPage(page, served.url, 'olga', '/review');
  await choose('Gallery');
  await page.locator('.with-shots').waitFor();
  await page.getByRole('link', { name: /^Changed/ }).click();
  await page.getByRole('link', { name: 'List', exact: true }).waitFor();
  await page.goto(`${served.url}/review`);
  await page.locator('.with-shots').waitFor();
  await choose('List');
  await page.locator('.cards:not(.with-shots)').waitFor();
  await page.goto(`${served.url}/review`);
  await page.locator('.cards:not(.with-shots)').waitFor();
  await page.close();
});
