// A page updates itself when what its developer requested is done.
import { describe, expect, test } from 'vitest';
import { closeRun } from '#db/queries/runs.ts';
import { arrive } from '#test/portal/developer.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { signInDeveloper, useTestConsole } from '#test/support/console.ts';
import { anOpenRun } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('a page that polls is not answered while its request waits, and is told to reload afterwards', async () => {
  const { sql } = database;
  const { page, poll, said } = await arrive(sql, portal.url, 'ash', [{ game_id: 'one' }]);
  const RELOADS = { status: 200, refresh: 'true' };
  const WAITS = { status: 204, refresh: null };
  const done = () => sql`delete from refresh_requests where application_id = 'ash'`;
  for (const [path, request, title] of [
    ['/portal/game?id=one', { id: 'one' }, 'Reading the game'],
    ['/portal/game?id=none', { id: 'none' }, 'Reading your list'],
    ['/portal/runs', {}, 'Reading your list'],
  ] as const) {
    expect(await page(path), path).not.toContain(title);
    expect(await poll(path), path).toEqual(RELOADS);
    await said('/portal/game', request);
    const waits = await page(path);
    expect(waits, path).toContain(`<h2>${title}</h2>`);
    expect(waits, 'without scripts').toContain(
      `<noscript><a class="button" href="${path}">Reload</a></noscript>`,
    );
    expect(waits, 'it is requested already').not.toMatch(/Read this game now<\/button>/);
    expect(await poll(path), path).toEqual(WAITS);
    await done();
    expect(await poll(path), path).toEqual(RELOADS);
  }
  const run = await anOpenRun(sql, 'ash');
  await sql`update sync_runs set trigger = 'refresh' where run_id = ${run.run_id}`;
  expect(await poll('/portal/runs'), 'its run is open').toEqual(WAITS);
  await closeRun(sql, run, { outcome: 'succeeded', reason: null });
  expect(await poll('/portal/runs')).toEqual(RELOADS);
  await said('/portal/checks', {});
  expect(await poll('/portal/checks')).toEqual(WAITS);
  expect(await page('/portal/checks')).toMatch(/class="card info" id="checks">\s+.*<h2>Running the checks</);
  await sql`update application_checks set finished_at = now() where application_id = 'ash'`;
  expect(await poll('/portal/checks')).toEqual(RELOADS);
  await sql`update application_checks set error = 'no key' where application_id = 'ash'`;
  expect(await page('/portal/checks')).toContain('<h2>The last check has no report</h2>');
});

describe.runIf(hasBrowser())('in Chromium', () => {
  const browser = useBrowser();

  test('the page of a game reloads itself, but not while a message is typed; a report takes the place of its notice', async () => {
    const { sql } = database;
    const { token } = await arrive(sql, portal.url, 'elm', [{ game_id: 'one' }]);
    const page = await browser.newPage();
    await signInDeveloper(page, portal.url, token);

    await page.goto(new URL('/portal/game?id=one', portal.url).href);
    await page.getByRole('textbox', { name: 'Write to the reviewers' }).fill(' ');
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await page.locator('textarea:invalid:focus').count(), 'the browser says it at the field').toBe(1);
    await page.getByRole('button', { name: 'Read this game now' }).click();
    const waits = page.getByRole('heading', { name: 'Reading the game' });
    await waits.waitFor();
    await page.getByRole('textbox', { name: 'Write to the reviewers' }).fill('It is mended.');
    await sql`delete from refresh_requests where application_id = 'elm'`;
    // Two polls later, the page is still as it was.
    await page.locator('body').evaluate(
      (body) =>
        new Promise<void>((resolve) => {
          let polls = 0;
          body.addEventListener('htmx:before:request', () => {
            polls += 1;
            if (polls === 2) resolve();
          });
        }),
    );
    expect(await waits.count()).toBe(1);
    expect(await page.getByRole('textbox', { name: 'Write to the reviewers' }).inputValue()).toBe(
      'It is mended.',
    );
    await page.getByRole('textbox', { name: 'Write to the reviewers' }).fill('');
    await waits.waitFor({ state: 'detached' });

    await page.goto(new URL('/portal/checks', portal.url).href);
    await page.getByRole('button', { name: 'Run the checks' }).click();
    const notice = page.getByText('The checks have begun.');
    await notice.hover();
    await sql`update application_checks set finished_at = now(), failed = 2 where application_id = 'elm'`;
    await page.getByRole('link', { name: 'Checks 2' }).waitFor();
    expect(await notice.count()).toBe(0);
  });
});
