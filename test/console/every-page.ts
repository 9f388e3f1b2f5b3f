import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/console/support.ts';
import { fillConsole } from '#test/console/world.ts';
import { collectErrors, useBrowser } from '#test/support/browser.ts';
import { type Scheme, takeDocsPicture, takeScreenshot } from '#test/support/screenshots.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = { id: string; help: string; nodes: { html: string }[] };

/** What axe-core finds at the page's present width. */
export const findViolations = async (page: Page): Promise<string[]> => {
  // The policy of the page refuses inline scripts; this one is the test's.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  await session.detach();
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: Violation[];
  };
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
};

/** The page is wider than its window, a table than its card, or a word of ours is divided for want of room. */
const FIND_OVERFLOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const page = scrollWidth > clientWidth
    ? ['the page is ' + (scrollWidth - clientWidth) + ' pixels wider than the window'] : [];
  const tables = [...document.querySelectorAll('.scroll:not(details *)')]
    .filter((table) => table.scrollWidth > table.clientWidth)
    .map((table) => 'the table ' + table.ariaLabel + ' is wider than its card');
  const words = [...document.querySelectorAll('dt, th, h2, label, .button, .badge')].flatMap((label) => {
    const texts = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    const divided = [];
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      for (const { index, 0: word } of text.data.matchAll(/[\\w']+/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) divided.push('the word ' + word + ' is divided');
      }
    }
    return divided;
  });
  return [...page, ...tables, ...words];
})()`;

/** What does not fit into the page's present width. */
export const findOverflow = (page: Page): Promise<string[]> => page.evaluate<string[]>(FIND_OVERFLOW);

/** What leads to a page: its address, and what is done there before the look. */
type Visit = string | { path: string; act: (page: Page) => Promise<void> };

/** Fills the database. @returns the pages to visit, by name */
type Prepare = (sql: Database) => Promise<Record<string, Visit>>;

const press = (key: string) => (page: Page) => page.keyboard.press(key);

/** Something on every page. */
export const everyPage: Prepare = async (sql) => {
  const { run_id, game_id, changed_id, hostile_id, long_id, batch_id } = await fillConsole(sql);
  const changed = `/games/${changed_id}?lane=changed`;
  return {
    overview: '/',
    review: '/review',
    'review-changed': '/review?lane=changed',
    'review-rejecting': {
      path: '/review?lane=changed',
      act: async (page) => {
        await page.getByLabel('Select all').check();
        await page.keyboard.press('r');
      },
    },
    game: `/games/${game_id}`,
    'game-changed': changed,
    'game-rejecting': { path: changed, act: press('r') },
    'game-hostile': `/games/${hostile_id}`,
    'game-long': `/games/${long_id}`,
    batch: `/batches/${batch_id}`,
    shortcuts: { path: '/review', act: press('?') },
    reasons: '/reasons',
    games: '/games',
    'games-search': '/games?q=lantern&status=pending',
    'games-nothing': '/games?q=nothing-has-this-name',
    applications: '/applications',
    application: '/applications/lantern-works',
    'application-failing': '/applications/studio-mizu',
    runs: '/runs',
    run: `/runs/${run_id}`,
    failures: '/failures',
    'failures-application': '/failures?application=studio-mizu',
    audit: '/audit',
    operators: '/operators',
    'operators-manage': { path: '/operators', act: (page) => page.locator('td summary').first().click() },
    account: '/account',
    'not-found': '/nowhere',
  };
};

/** A console on its first day. */
export const emptyPages: Prepare = async () => ({
  'empty-overview': '/',
  'empty-review': '/review',
  'empty-games': '/games',
  'empty-applications': '/applications',
  'empty-runs': '/runs',
  'empty-failures': '/failures',
});

/** Serves a console. @returns visits its pages */
export const usePages = (prepare: Prepare) => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  let visits: Record<string, Visit>;

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    await sql`update operators set name = 'Olga Reyes' where login = 'olga'`;
    visits = await prepare(sql);
  });

  /** Expects of every page that axe-core finds nothing, nothing overflows, no error occurs and no request leaves. */
  return async (scheme: Scheme, widths: readonly number[]): Promise<void> => {
    await using stack = new AsyncDisposableStack();
    const [first = 0] = widths;
    const context = await browser.newContext({
      viewport: { width: first, height: 900 },
      colorScheme: scheme,
      // While a colour changes, its contrast is that of neither scheme.
      reducedMotion: 'reduce',
    });
    stack.defer(() => context.close());
    const page = await context.newPage();
    const errors = collectErrors(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(served.url)) elsewhere.push(request.url());
    });
    const found: Record<string, string[]> = {};
    const look = async (name: string) => {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await takeScreenshot(page, scheme, name);
        const problems = [...(await findOverflow(page)), ...(await findViolations(page))];
        if (problems.length > 0) found[`${name} at ${width}`] = problems;
      }
    };
    await page.goto(new URL('/sign-in', served.url).href);
    await look('sign-in');
    await page.getByLabel('Login').fill('olga');
    await page.getByLabel('Password').fill('not her password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await look('sign-in-refused');
    await signInPage(page, served.url, 'olga');
    for (const [name, visit] of Object.entries(visits)) {
      const { path, act } = typeof visit === 'string' ? { path: visit, act: undefined } : visit;
      const response = await page.goto(new URL(path, served.url).href);
      expect(response?.status(), path).toBe(name === 'not-found' ? 404 : 200);
      await act?.(page);
      await look(name);
      if (name === 'game-changed' && scheme === 'light') await takeDocsPicture(page, 'review');
    }
    expect(found).toEqual({});
    expect(elsewhere).toEqual([]);
    expect(errors.filter((error) => !/ 40[14] /.test(error))).toEqual([]);
  };
};
