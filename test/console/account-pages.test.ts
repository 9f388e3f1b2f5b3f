import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signIn, signInPage, useTestConsole } from '#test/support/console.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NEW = 'seven quiet herons leap';

describe.runIf(hasBrowser())('the page of the own account', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  const fill = async (page: Page, current: string, password: string): Promise<void> => {
    await page.getByLabel('Current password').fill(current);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Change password' }).click();
  };

  test.each([true, false])(
    'with script %s: from the name in the header, one session, all others and the password',
    async (javaScriptEnabled) => {
      const login = `olga-${javaScriptEnabled}`;
      await addTestOperator(database.sql, login, 'viewer');
      for (let n = 0; n < 3; n += 1) await signIn(served.url, login);
      const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
      const page = await context.newPage();
      const errors = collectErrors(page);
      await signInPage(page, served.url, login);
      await page.getByRole('link', { name: `${login} of the tests` }).click();
      const rows = page.getByRole('region', { name: 'Your sessions' }).locator('tbody tr');
      const sayings = page.getByRole('status');
      expect(await rows.count()).toBe(4);
      expect(await rows.filter({ hasText: 'This session' }).count()).toBe(1);

      await rows.nth(1).getByRole('button').click();
      await sayings.getByText('The session has ended.').waitFor();
      expect(await rows.count()).toBe(3);
      await page.getByRole('button', { name: 'End all others' }).click();
      await sayings.getByText('Other sessions that ended: 2.').waitFor();
      expect(await rows.count()).toBe(1);
      expect(await page.getByRole('button', { name: /^End/ }).count()).toBe(0);

      await fill(page, 'this is a wrong one', NEW);
      expect(await page.getByRole('alert').textContent()).toBe('The current password is wrong.');
      expect(await page.content()).not.toContain('this is a wrong one');
      if (javaScriptEnabled) expect(await inspectPage(page, 'account-refused')).toEqual([]);
      await fill(page, PASSWORD, NEW);
      await sayings.getByText('Your password is changed.').waitFor();
      expect(await rows.count()).toBe(1);
      await expect(signIn(served.url, login)).rejects.toThrow('401');
      await signIn(served.url, login, NEW);
      // The browser itself reports the status 422.
      expect(errors.filter((error) => !error.includes('422'))).toEqual([]);
      await context.close();
    },
  );
});
