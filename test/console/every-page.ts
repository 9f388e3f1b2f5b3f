import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { closeRun } from '#db/queries/runs.ts';
import { fillConsole } from '#test/console/filled-console.ts';
import { collectErrors, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, useTestConsole } from '#test/support/console.ts';
import { anOpenRun } from '#test/support/factories.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { takeDocsPicture } from '#test/support/screenshots.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** What leads to a page: its address, and what is done there before the look. */
type Visit = string | { path: string; act: (page: Page) => Promise<void> };

/** Fills the database. @returns the pages to visit, by name */
type Prepare = (sql: Database) => Promise<Record<string, Visit>>;

const press = (key: string) => (page: Page) => page.keyboard.press(key);

/** Runs that found no change. */
const runQuietly = async (sql: Database, application_id: string): Promise<void> => {
  for (let n = 0; n < 3; n += 1) {
    const run = await anOpenRun(sql, application_id);
    await closeRun(sql, run, { outcome: 'succeeded', reason: null });
  }
};

/** Selects the games of a lane, and passes them. */
const passAll = async (page: Page): Promise<void> => {
  await page.getByLabel('Select all').check();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: /^Pass all/ }).waitFor();
};

/** Something on every page. */
export const everyPage: Prepare = async (sql) => {
  const { run_id, game_id, appealed_id, changed_id, hostile_id, long_id, batch_id } = await fillConsole(sql);
  await runQuietly(sql, 'northwind-play');
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
    'review-appeals': '/review/appeals',
    game: `/games/${game_id}`,
    'game-appealed': `/games/${appealed_id}`,
    'game-overturning': { path: `/games/${appealed_id}`, act: press('o') },
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
    figures: '/figures',
    rejections: '/figures/rejections',
    gallery: '/review?view=gallery',
    failures: '/failures',
    'failures-application': '/failures?application=studio-mizu',
    audit: '/audit',
    tokens: '/tokens',
    queues: '/queues',
    'application-settings': {
      path: '/applications/lantern-works#settings',
      act: (page) => page.locator('#change-settings summary').click(),
    },
    'application-address': {
      path: '/applications/lantern-works',
      act: (page) => page.locator('#events summary').first().click(),
    },
    operators: '/operators',
    'operators-manage': { path: '/operators', act: (page) => page.locator('td summary').first().click() },
    account: '/account',
    'not-found': '/nowhere',
    'review-unopened': { path: '/review?view=gallery', act: passAll },
    'review-passed': {
      path: '/review?view=list',
      act: async (page) => {
        await passAll(page);
        await page.getByRole('button', { name: /^Pass all/ }).click();
        await page.getByRole('button', { name: 'Dismiss' }).waitFor();
      },
    },
  };
};

/** Those with the most parts, which shows within seconds what most changes break. */
export const mainPages: Prepare = async (sql) => {
  const pages = await everyPage(sql);
  const names = ['review-changed', 'game-changed', 'application', 'run'] as const;
  return Object.fromEntries(names.map((name) => [name, pages[name] ?? '']));
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

/** Serves a console. @returns visits its pages, and expects that nothing is wrong with any of them */
export const usePages = (prepare: Prepare) => {
  const database = useTestDatabase();
  const browser = useBrowser();
  let visits: Record<string, Visit>;

  beforeAll(async () => {
    const { sql } = database;
    await addTestOperator(sql, 'olga', 'reviewer', 'admin');
    await sql`update operators set name = 'Olga Reyes' where login = 'olga'`;
    visits = await prepare(sql);
  });
  // After the runs of earlier hours, which it reads once.
  const served = useTestConsole(database);

  return async (): Promise<void> => {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    const errors = collectErrors(page);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(served.url)) elsewhere.push(request.url());
    });
    const problems: string[] = [];
    const look = async (name: string) => void problems.push(...(await inspectPage(page, name)));

    await page.goto(new URL('/sign-in', served.url).href);
    await look('sign-in');
    await page.getByLabel('Login').fill('olga');
    await page.getByLabel('Password').fill('not her password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await look('sign-in-refused');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    for (const [name, visit] of Object.entries(visits)) {
      const { path, act } = typeof visit === 'string' ? { path: visit, act: undefined } : visit;
      const response = await page.goto(new URL(path, served.url).href);
      expect(response?.status(), path).toBe(name === 'not-found' ? 404 : 200);
      await act?.(page);
      await look(name);
      if (name === 'game-changed') await takeDocsPicture(page, 'review');
    }
    expect(problems).toEqual([]);
    expect(elsewhere).toEqual([]);
    expect(errors.filter((error) => !/ 40[14] /.test(error))).toEqual([]);
  };
};
