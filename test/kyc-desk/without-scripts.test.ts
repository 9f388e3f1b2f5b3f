// The forms of the desk do what they say in a browser that runs no script.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signInPage } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('the desk without scripts, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const desk = useTestDesk(database);

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'acme', {}, DESK_KEYS);
    await store(sql, DESK_KEYS, 'acme', PLANTED);
    for (const login of ['kim', 'lee']) await addTestOperator(sql, login, 'kyc_officer');
  });

  const open = async (login: string): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await signInPage(page, desk.url, login, '/developers/acme');
    return page;
  };
  const request = async (page: Page, button: string) => {
    const form = page.locator('form', { has: page.getByRole('button', { name: button }) });
    await form.getByLabel('Reason').fill('ticket 4711');
    await form.getByRole('button', { name: button }).click();
    await page.getByText('Requested. Another kyc officer can approve it').waitFor();
  };
  const approve = async (page: Page) => {
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved.').waitFor();
  };

  test('a verdict, a reveal and an erasure are requested, approved and done, and a request is declined', async () => {
    const [kim, lee] = [await open('kim'), await open('lee')];
    await kim.locator('#verdict summary').click();
    await kim.getByLabel('Verdict').selectOption('verified');
    await request(kim, 'Request the verdict');
    await approve(lee);
    await kim.reload();
    await kim.getByRole('button', { name: 'Give the verdict verified' }).click();
    await kim.getByRole('status').waitFor();
    expect(await database.sql`select verdict, decided_by from kyc_verdicts`).toEqual([
      { verdict: 'verified', decided_by: 'kim' },
    ]);

    await request(kim, 'Request to reveal it');
    await approve(lee);
    await kim.reload();
    await kim.getByLabel('Your password, again').fill(PASSWORD);
    await kim.getByRole('button', { name: 'Reveal for two minutes' }).click();
    await kim.getByText(PLANTED.tax_id, { exact: true }).waitFor();

    await kim.goto(`${desk.url}/developers/acme`);
    await request(kim, 'Request to erase it');
    await lee.reload();
    await lee.getByRole('button', { name: 'Decline' }).click();
    await lee.getByText('The request has ended.').waitFor();
    await kim.reload();
    await request(kim, 'Request to erase it');
    await approve(lee);
    await kim.reload();
    await kim.getByRole('button', { name: 'Erase now' }).click();
    await kim.getByRole('status').waitFor();
    expect(await database.sql`select from kyc_records`).toHaveLength(0);
  });
});
