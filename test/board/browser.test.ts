import { existsSync } from 'node:fs';
import { pino } from 'pino';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type BoardOptions, buildBoard } from '#src/board/app.ts';
import { FINISHED_JOB, LOGIN, openTestQueues, type TestQueues } from '#test/board/support.ts';

const BROWSER_PATH = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
/** Nothing that a browser asks for on its own account leaves this machine. */
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

/** Bull Board gives this button no name. */
const QUEUE_MENU = 'main [aria-haspopup="menu"]';

const hasBrowser = existsSync(BROWSER_PATH);
if (!hasBrowser) {
  const reason = `there is no Chromium at ${BROWSER_PATH}: install it, or set CHROMIUM_PATH`;
  if (process.env.CI) throw new Error(`with CI set a missing browser is a failure: ${reason}`);
  process.stderr.write(`The board's browser tests are skipped: ${reason}.\n`);
}

// Where there is no redis-server (never with CI set), the other backend stands for both.
const backends = inject('redisUrl') === null ? (['postgres'] as const) : (['redis', 'postgres'] as const);

describe.runIf(hasBrowser).each(backends)('in Chromium, over queues in %s', (kind) => {
  let queues: TestQueues;
  let browser: Browser;
  let closeBoard: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    queues = await openTestQueues(kind);
    browser = await chromium.launch({ executablePath: BROWSER_PATH, args: BROWSER_ARGS });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await closeBoard?.();
  });
  afterAll(async () => {
    await browser?.close();
    await queues?.close();
  });

  /** Opens a page of a board; `complaints` collects what the browser had to say about it. */
  const open = async (
    options: Partial<BoardOptions>,
    path: string,
  ): Promise<{ page: Page; complaints: string[] }> => {
    const board = await buildBoard({
      queues: queues.queues,
      login: LOGIN,
      readOnly: false,
      trustedProxies: [],
      logger: pino({ level: 'silent' }),
      ...options,
    });
    closeBoard = () => board.close();
    const url = await board.listen({ host: '127.0.0.1', port: 0 });
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(new URL(path, url).href);
    return { page, complaints };
  };

  const signIn = async (page: Page, password = LOGIN.password): Promise<void> => {
    await page.getByLabel('User').fill(LOGIN.user);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  const FINISHED = '/queue/query-game-list?status=completed';

  test('an operator signs in, sees the queues and a finished job by its name, and signs out', async () => {
    const { page, complaints } = await open({}, FINISHED);
    await signIn(page);
    await page.getByText(FINISHED_JOB).waitFor();
    for (const name of ['query-game-list', 'query-cp-kyc'])
      await page.getByRole('link', { name }).first().waitFor();
    expect(await page.title()).toBe('Game Catalogue');
    expect(new URL(page.url()).pathname).toBe('/queue/query-game-list');

    await page.goto(new URL('/logout', page.url()).href);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    await page.goto(new URL(FINISHED, page.url()).href);
    await page.getByLabel('Password').waitFor();
    expect(complaints).toEqual([]);
  });

  test('an operator pauses and resumes a queue', async () => {
    const { page, complaints } = await open({}, '/queue/query-cp-kyc');
    await signIn(page);
    for (const [action, paused] of [
      ['Pause', true],
      ['Resume', false],
    ] as const) {
      await page.locator(QUEUE_MENU).click();
      await page.getByRole('menuitem', { name: action, exact: true }).click();
      await page.getByRole('button', { name: 'Confirm' }).click();
      await expect.poll(() => queues.queues[1].isPaused()).toBe(paused);
    }
    expect(complaints).toEqual([]);
  });

  test('a viewer sees the finished job and can change nothing, by button or by hand', async () => {
    const { page } = await open({ readOnly: true }, FINISHED);
    await signIn(page);
    await page.getByText(FINISHED_JOB).waitFor();
    await page.getByText('Read only').waitFor();
    expect(await page.locator(QUEUE_MENU).count()).toBe(0);
    for (const name of ['Retry all', 'Clean all']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    const status = await page.evaluate(
      "fetch('/api/queues/query-game-list/pause', { method: 'PUT' }).then((answer) => answer.status)",
    );
    expect(status).toBe(405);
    expect(await queues.queues[0].isPaused()).toBe(false);
  });

  test('a wrong password is said, and the right one still works after it', async () => {
    const { page } = await open({}, FINISHED);
    await signIn(page, 'guess');
    await page.getByRole('alert').getByText('The user or the password is wrong.').waitFor();
    await signIn(page);
    await page.getByText(FINISHED_JOB).waitFor();
  });

  test('a board without a login says so on the page', async () => {
    const { page, complaints } = await open({ login: null }, '/');
    await page.getByText('No login is set: only this machine can open this board').waitFor();
    expect(complaints).toEqual([]);
  });
});
