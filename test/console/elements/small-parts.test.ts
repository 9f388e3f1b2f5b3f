import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

describe.runIf(hasBrowser())('small parts of pages in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'admin');
    await addApplication(sql, 'jade', { name: 'Jade Lantern' });
    await addApplication(sql, 'opal', { name: 'Opal <b>Works</b>' });
    await upsertGames(sql, 'jade', [fetchedGame({ game_id: 'g-1' })]);
    await sql`update applications set status = 'paused' where application_id = 'opal'`;
  });

  test('a box for an application offers those that match, and sends the form when one is chosen', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', '/runs');
    const box = page.getByLabel('Application', { exact: true });
    await box.pressSequentially('lantern');
    await page.locator('datalist option[value="jade"]').waitFor({ state: 'attached' });
    await page.locator('datalist option[value="opal"]').waitFor({ state: 'detached' });
    // What the browser does when an option is chosen.
    await page.evaluate(`{
      const input = document.querySelector('application-box input');
      input.value = 'jade';
      input.dispatchEvent(new InputEvent('input', { inputType: 'insertReplacementText', bubbles: true }));
    }`);
    await page.waitForURL(/application=jade/);
    await page.close();

    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await signInPage(plain, served.url, 'olga', '/runs');
    await plain.getByLabel('Application', { exact: true }).fill('opal');
    await plain.getByRole('button', { name: 'Filter' }).click();
    await plain.waitForURL(/application=opal/);
    await context.close();
  });

  test('an id is copied by its button', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await signInPage(page, served.url, 'olga', '/applications/jade');
    await page.getByRole('button', { name: 'Copy jade' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('jade');
    await context.close();
  });

  test('a browser that copies nothing is not said to have copied', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', '/applications/jade');
    await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))`);
    await page.getByRole('button', { name: 'Copy jade' }).click();
    await page.getByText('Not copied').waitFor();
    await page.close();
  });

  test('a distance in time follows the clock on an open page, and its title has the local time', async () => {
    const page = await browser.newPage();
    await page.clock.install();
    await signInPage(page, served.url, 'olga', '/tokens');
    await page.evaluate(`for (const [id, ms, text] of [
      ['past', -240_000, '4\\u00a0min ago'],
      ['ahead', 600_000, 'in 10\\u00a0min'],
      ['over', 60_000, 'in 1\\u00a0min'],
      // The clock of the server is ahead of this one.
      ['young', 60_000, '0\\u00a0s ago'],
    ]) {
      const time = document.createElement('time');
      const at = new Date(Date.now() + ms).toISOString();
      Object.assign(time, { id, dateTime: at, title: at, textContent: text });
      document.querySelector('main').append(time);
    }`);
    const shown = (id: string) => page.locator(`#${id}`).textContent();
    await page.clock.runFor(15_500);
    expect(await shown('young')).toBe('0\u00a0s ago');
    await page.clock.runFor(165_500);
    expect(await shown('past')).toMatch(/^[67]\u00a0min ago$/);
    expect(await shown('ahead')).toMatch(/^in [67]\u00a0min$/);
    expect(await shown('over')).toBe('now');
    expect(await shown('young')).toMatch(/^[12]\u00a0min ago$/);
    expect(await page.locator('#past').getAttribute('title')).toMatch(/\(.*Z\)$/);
    await page.close();
  });

  test('the navigation counts what waits, and the audit log names what it is about', async () => {
    const page = await browser.newPage();
    await signInPage(page, served.url, 'olga', '/audit');
    await until('the counts are read', async () => {
      await page.reload();
      return page.getByRole('link', { name: 'Applications 1' }).isVisible();
    });
    expect(await page.getByRole('link', { name: 'Review 1' }).isVisible()).toBe(true);
    const row = page.getByRole('row', { name: /session\.sign_in/ }).first();
    expect(await row.innerText()).toMatch(/operator olga\s+by password · site console · address/);
    expect(await page.locator('table').innerText()).not.toContain('{');
    await page.close();
  });
});
