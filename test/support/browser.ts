import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

const BROWSER_PATH = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
/** The browser itself sends nothing to other hosts. */
const BROWSER_ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** False if Chromium is not installed: its tests are then skipped. @throws Error if CI is set */
export const hasBrowser = (): boolean => {
  if (existsSync(BROWSER_PATH)) return true;
  const reason = `there is no Chromium at ${BROWSER_PATH}: install it, or set CHROMIUM_PATH`;
  if (process.env.CI) throw new Error(`browser tests must run if CI is set: ${reason}`);
  process.stderr.write(`Browser tests are skipped: ${reason}.\n`);
  return false;
};

/** @param ignoreDefaultArgs switches of Playwright's that the browser of a person does not have */
export const launchBrowser = (ignoreDefaultArgs: string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: BROWSER_PATH, args: BROWSER_ARGS, ignoreDefaultArgs });

/** A browser for the tests of one file or `describe`: launched before them, closed after them. */
export const useBrowser = (ignoreDefaultArgs?: string[]): Pick<Browser, 'newContext' | 'newPage'> => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser(ignoreDefaultArgs);
  });
  afterAll(() => browser?.close());
  return {
    newContext: (options) => browser.newContext(options),
    newPage: (options) => browser.newPage(options),
  };
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

/** A browser with a profile on disk, as a person has it: history, caches, the back-forward cache. */
export const launchProfile = (directory: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(directory, {
    executablePath: BROWSER_PATH,
    args: BROWSER_ARGS,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
