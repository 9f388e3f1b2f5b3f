import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, LIST_SHIFTS, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('notices in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
    await addApplication(database.sql, 'app');
    const games = [0, 1, 2].map((n) => fetchedGame({ game_id: `g-${n}`, game_name: `game ${n}` }));
    await upsertGames(database.sql, 'app', games);
  });

  test('nothing moves when a notice comes or leaves; its Undo takes the decision back', async () => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await page.clock.install();
    await page.addInitScript(LIST_SHIFTS);
    await signInPage(page, served.url, 'olga', '/review');
    await page.locator('.game-card .name').first().click();
    const pass = page.getByRole('button', { name: 'Pass' });
    const before = await pass.boundingBox();
    await pass.click();
    const notice = page.locator('toast-stack .notice');
    await notice.getByText(': passed.').waitFor();
    expect(await pass.boundingBox()).toEqual(before);
    await page.clock.runFor(8_100);
    await notice.waitFor({ state: 'detached' });
    expect(await pass.boundingBox()).toEqual(before);
    expect(await page.evaluate('shifts')).toEqual([]);

    await pass.click();
    await notice.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/: undone\./).waitFor();
    const rows = await database.sql`select from game_audits where undone_at is null`;
    expect(rows).toHaveLength(1);
    await page.close();
  });

  test('a problem stays until it is dismissed, and without scripts it stands above the page', async () => {
    const page = await browser.newPage();
    await page.clock.install();
    await signInPage(page, served.url, 'olga', '/review');
    await page.evaluate("document.querySelector('form:has(.bulk)').noValidate = true");
    await page.getByLabel('Select all').check();
    await page.keyboard.press('r');
    await page.getByRole('button', { name: /^Reject \d+ games?$/ }).click();
    const notice = page.locator('toast-stack .notice');
    const problem = notice.getByText('A rejection needs a reason');
    await problem.waitFor();
    // No answer comes to what the page requests by itself.
    await page.route('**/icons?*', () => {});
    // In steps, between which the page sends its requests: one of them then waits for longer than htmx does.
    for (let seconds = 0; seconds < 70; seconds += 2) await page.clock.runFor(2_000);
    expect(await problem.count()).toBe(1);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.close();

    const plain = await browser.newPage({ javaScriptEnabled: false });
    await signInPage(plain, served.url, 'olga', '/review');
    await plain.locator('.game-card .name').first().click();
    await plain.getByRole('button', { name: 'Pass' }).click();
    const place = await plain.getByText(': passed.').boundingBox();
    const heading = await plain.getByRole('heading', { level: 1 }).boundingBox();
    expect(place?.y).toBeLessThan(heading?.y ?? 0);
    await plain.close();
  });
});
