import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signIn, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addGames } from '#test/support/factories.ts';
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
      expect(await rows.filter({ hasText: 'this session' }).count()).toBe(1);

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

  test('single keys are switched off and on; what they do stays possible, and they are no longer shown', async () => {
    await addTestOperator(database.sql, 'rui', 'reviewer');
    await addApplication(database.sql, 'keys');
    await addGames(database.sql, 'keys', 2);
    const page = await browser.newPage();
    await signInPage(page, served.url, 'rui', '/account');
    await page.getByRole('button', { name: 'Switch single keys off' }).click();
    await page.getByText('Single keys are off.').waitFor();
    expect(await inspectPage(page, 'account-keys')).toEqual([]);
    await page.goto(`${served.url}/review`);
    await page.locator('.game-card .name').first().click();
    const pass = page.getByRole('button', { name: 'Pass' });
    expect(await pass.locator('kbd').isVisible()).toBe(false);
    expect(await pass.getAttribute('aria-keyshortcuts')).toBeNull();
    for (const key of ['p', 'r', 'j', '1', 'u', '/', '?', ' ']) await page.keyboard.press(key);
    expect(await page.locator('dialog[open], details#rejection[open]').count()).toBe(0);
    expect(await database.sql`select from game_audits`).toHaveLength(0);
    await pass.press('Enter');
    await page.getByText(': passed.').waitFor();

    await page.goto(`${served.url}/account`);
    await page.getByRole('button', { name: 'Switch single keys on' }).click();
    await page.getByText('Single keys are on.').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
    await page.close();
  });
});
