import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { BROWSER_ARGS, BROWSER_PATH } from '#test/support/browser-options.ts';

/** No page takes this long to do what a test waits for. */
const HANG_MS = 120_000;

/** False if Chromium is not installed: its tests are then skipped. With CI set, the run does not start without it. */
export const hasBrowser = (): boolean => inject('browserEndpoint') !== null;

/**
 * The browser for the tests of one file or `describe`, connected before them. Their pages close after them. It is the
 * browser of the run, unless it needs switches of its own.
 * @param ignoreDefaultArgs switches of Playwright's that the browser of a person does not have
 */
export const useBrowser = (ignoreDefaultArgs?: string[]): Pick<Browser, 'newContext' | 'newPage'> => {
  let browser: Browser;
  beforeAll(async () => {
    browser =
      ignoreDefaultArgs === undefined
        ? await chromium.connect(inject('browserEndpoint') ?? '')
        : await chromium.launch({ executablePath: BROWSER_PATH, args: BROWSER_ARGS, ignoreDefaultArgs });
  });
  afterAll(() => browser?.close());
  const newContext: Browser['newContext'] = async (options) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(HANG_MS);
    return context;
  };
  return { newContext, newPage: async (options) => (await newContext(options)).newPage() };
};

/** @returns the errors of a page, appended as they occur: console errors, which include CSP violations, and exceptions */
export const collectErrors = (page: Page): string[] => {
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return errors;
};

/** A script for a page: it lists what moves in `shifts`. */
export const LIST_SHIFTS = `window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    shifts.push(
      [value, ...sources.map(({ node, previousRect: from, currentRect: to }) =>
        JSON.stringify([from, to]) + (node?.outerHTML ?? node?.textContent))].join(' '),
    );
}).observe({ type: 'layout-shift', buffered: true });`;

/** Opens a page and lets two days pass on it. @returns what moved */
export const listShiftsOfTime = async (
  page: Page,
  open: (page: Page) => Promise<unknown>,
): Promise<string[]> => {
  await page.addInitScript(LIST_SHIFTS);
  await page.clock.install();
  await open(page);
  // "in 59 min" and "47 h ago" have more letters than "in 47 h" and "3 s ago", "2 d ago" has fewer.
  for (const hours of [47, 2]) {
    await page.clock.fastForward(hours * 3_600_000);
    await page.clock.runFor(16_000);
    // A screenshot takes a frame, in which what moved is noted.
    await page.screenshot();
  }
  return page.evaluate<string[]>('shifts');
};

/** A browser with a profile on disk, as a person has it: history, caches, the back-forward cache. */
export const launchProfile = (directory: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(directory, {
    executablePath: BROWSER_PATH,
    args: BROWSER_ARGS,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
