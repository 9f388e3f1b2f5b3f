import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type BoardOptions, buildBoard } from '#src/board/app.ts';
import { FINISHED_JOB, LOGIN, openTestQueues, type TestQueues } from '#test/board/support.ts';
import { collectErrors, hasBrowser, launchBrowser } from '#test/support/browser.ts';

/** Bull Board gives this button no name. */
const QUEUE_MENU = 'main [aria-haspopup="menu"]';

// Without a redis-server, which CI always has, only the PostgreSQL backend is tested.
const backends = inject('redisUrl') === null ? (['postgres'] as const) : (['redis', 'postgres'] as const);

describe.runIf(hasBrowser()).each(backends)('in Chromium, over queues in %s', (kind) => {
  let queues: TestQueues;
  let browser: Browser;
  let closeBoard: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    queues = await openTestQueues(kind);
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await closeBoard?.();
  });
  afterAll(async () => {
    await browser?.close();
    await queues?.close();
  });

  /** Starts a board and opens a page of it. @returns the page and its errors */
  const open = async (
    options: Partial<BoardOptions>,
    path: string,
  ): Promise<{ page: Page; errors: string[] }> => {
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
    const errors = collectErrors(page);
    await page.goto(new URL(path, url).href);
    return { page, errors };
  };

  const signIn = async (page: Page, password = LOGIN.password): Promise<void> => {
    await page.getByLabel('User').fill(LOGIN.user);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  const FINISHED = '/queue/query-game-list?status=completed';

  test('an operator signs in, sees the queues and the title of a finished job, and signs out', async () => {
    const { page, errors } = await open({}, FINISHED);
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
    expect(errors).toEqual([]);
  });

  test('an operator pauses and resumes a queue', async () => {
    const { page, errors } = await open({}, '/queue/query-cp-kyc');
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
    expect(errors).toEqual([]);
  });

  test('a viewer of a read-only board sees the finished job and can change nothing, by button or by request', async () => {
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

  test('a wrong password shows a message, and the right one works after it', async () => {
    const { page } = await open({}, FINISHED);
    await signIn(page, 'guess');
    await page.getByRole('alert').getByText('The user or the password is wrong.').waitFor();
    await signIn(page);
    await page.getByText(FINISHED_JOB).waitFor();
  });

  test('a board without a login shows this on its page', async () => {
    const { page, errors } = await open({ login: null }, '/');
    await page.getByText('No login is set: only this machine can open this board').waitFor();
    expect(errors).toEqual([]);
  });
});
