import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { addTestOperator, signInPage, startTestConsole, type TestConsole } from '#test/console/support.ts';
import { fillConsole } from '#test/console/world.ts';
import { collectErrors, launchBrowser } from '#test/support/browser.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** Written here by `npm run screenshots`. */
const SCREENSHOTS = process.env.SCREENSHOTS;
const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Scheme = 'light' | 'dark';
type Violation = { id: string; help: string; nodes: { html: string }[] };

/** What axe-core finds at the page's present width. */
export const findViolations = async (page: Page): Promise<string[]> => {
  // The policy of the page refuses inline scripts; this one is the test's.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  await session.detach();
  // A new colour scheme is a transition: while it lasts, the contrast is that of neither scheme.
  await page.evaluate(`Promise.allSettled(
    document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished))`);
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: Violation[];
  };
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
};

/** Whether a page is wider than its window. */
export const findOverflow = async (page: Page): Promise<string[]> => {
  const overflow = (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
  return overflow > 0 ? [`the page is ${overflow} pixels wider than the window`] : [];
};

/** Serves a console with something on every page. @returns visits every page */
export const useEveryPage = () => {
  const database = useTestDatabase();
  let browser: Browser;
  let served: TestConsole;
  let paths: Record<string, string>;

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    const { run_id, game_id, changed_id } = await fillConsole(sql);
    served = await startTestConsole(database);
    browser = await launchBrowser();
    paths = {
      overview: '/',
      review: '/review',
      'review-changed': '/review?lane=changed',
      game: `/games/${game_id}`,
      'game-changed': `/games/${changed_id}?lane=changed`,
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
      audit: '/audit',
      operators: '/operators',
      account: '/account',
      'not-found': '/nowhere',
    };
  });
  afterAll(async () => {
    await browser?.close();
    await served?.stop();
  });

  /** Expects of every page that axe-core finds nothing, nothing overflows, no error occurs and no request leaves. */
  return async (scheme: Scheme, widths: readonly number[]): Promise<void> => {
    await using stack = new AsyncDisposableStack();
    const [first = 0] = widths;
    const context = await browser.newContext({
      viewport: { width: first, height: 900 },
      colorScheme: scheme,
    });
    stack.defer(() => context.close());
    const page = await context.newPage();
    const errors = collectErrors(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(served.url)) elsewhere.push(request.url());
    });
    const found: Record<string, string[]> = {};
    const visit = async (name: string) => {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        if (SCREENSHOTS !== undefined) {
          const directory = join(SCREENSHOTS, `${scheme}-${width}`);
          await mkdir(directory, { recursive: true });
          await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
        }
        const problems = [...(await findOverflow(page)), ...(await findViolations(page))];
        if (problems.length > 0) found[`${name} at ${width}`] = problems;
      }
    };
    await page.goto(new URL('/sign-in', served.url).href);
    await visit('sign-in');
    await signInPage(page, served.url, 'olga');
    for (const [name, path] of Object.entries(paths)) {
      const response = await page.goto(new URL(path, served.url).href);
      expect(response?.status(), path).toBe(name === 'not-found' ? 404 : 200);
      await visit(name);
    }
    expect(found).toEqual({});
    expect(elsewhere).toEqual([]);
    expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
  };
};
