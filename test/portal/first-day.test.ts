// The portal of a developer whose application has no game yet.
import { expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const browser = useBrowser();
const served = useTestConsole(database);

test.runIf(hasBrowser())(
  'every page of a new developer has one next step; axe-core finds nothing',
  async () => {
    await addApplication(database.sql, 'alder');
    const { token } = await addToken(database.sql, 'alder');
    const page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
    await page.goto(new URL('/portal', served.url).href);
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const problems: string[] = [];
    for (const path of ['', '/games', '/runs', '/events', '/checks', '/game?id=none', '/nowhere']) {
      await page.goto(new URL(`/portal${path}`, served.url).href);
      problems.push(...(await inspectPage(page, `portal-first${path.replaceAll(/\W/g, '-')}`)));
      const steps = await page.locator('main .button.primary').filter({ visible: true }).count();
      if (steps !== 1) problems.push(`${path} has ${steps} primary buttons`);
    }
    // A phone shows every place of the navigation, and every tab, without scrolling.
    await page.setViewportSize({ width: 390, height: 844 });
    const nav = page.getByRole('navigation', { name: 'Main' });
    expect(await nav.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(false);
    expect(problems).toEqual([]);
  },
);
