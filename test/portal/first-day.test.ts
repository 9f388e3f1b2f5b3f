// The portal of a developer whose application has no game yet.
import { expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { arrive } from '#test/portal/developer.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { signInDeveloper, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, anOpenRun, fetchedGame } from '#test/support/factories.ts';
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
    await signInDeveloper(page, served.url, token);
    const problems: string[] = [];
    for (const path of ['', '/games', '/runs', '/events', '/checks', '/game?id=none', '/nowhere']) {
      await page.goto(new URL(`/portal${path}`, served.url).href);
      problems.push(...(await inspectPage(page, `portal-first${path.replaceAll(/\W/g, '-')}`)));
      // Nothing was found: what was typed may be a name.
      const leading = path === '/game?id=none' ? 0 : 1;
      const steps = await page.locator('main .button.primary').filter({ visible: true }).count();
      if (steps !== leading) problems.push(`${path} has ${steps} primary buttons`);
    }
    // A phone shows every place of the navigation, and every tab, without scrolling.
    await page.setViewportSize({ width: 390, height: 844 });
    const nav = page.getByRole('navigation', { name: 'Main' });
    expect(await nav.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(false);
    expect(problems).toEqual([]);
  },
);

test('a new developer reads what comes next, until the first game is stored; an application that is paused, who resumes it', async () => {
  const { sql } = database;
  const { page, said } = await arrive(sql, served.url, 'new');
  const steps = async () => {
    const shown = await page('/portal');
    return [...shown.matchAll(/<li( class="done")?><div><h3>([^<]*)/g)].map(([, done, title]) =>
      done === undefined ? title : `${title}: done`,
    );
  };
  const [token, ...others] = await steps();
  expect(token).toBe('Get an API token: done');
  expect(others).toHaveLength(4);
  expect(others[0]).toBe('Check your webhooks');
  expect(await page('/portal')).toContain('<button class="button primary">Run the checks</button>');
  expect(await page('/portal/games')).toContain('Your games are not stored yet.');
  for (const path of ['', '/games', '/runs'])
    expect(await page(`/portal${path}`)).toMatch(
      /The next read of your list is due <time [^>]*>in \d+\u00a0\w+<\/time>\./,
    );
  for (const path of ['', '/games', '/runs'])
    expect(await page(`/portal${path}`), 'the list is read now').toMatch(
      /<form method="post" action="\/portal\/game" class="inline">\s*<button class="button ">Read my list now/,
    );
  expect(await said('/portal/game', {})).toMatch(/^good Your list is read within a minute/);
  const requests =
    await sql`select application_game_id, is_full from refresh_requests where application_id = 'new'`;
  expect(requests).toEqual([{ application_game_id: '', is_full: true }]);
  expect(await said('/portal/game', {}), 'a flood of requests is one').toMatch(
    /^info It is requested already/,
  );
  expect(await page('/portal/runs')).not.toContain('No open failures');
  expect(await page('/portal/checks')).toContain('Your webhooks have not been checked yet');
  await said('/portal/checks', { act: 'check' });
  expect(await page('/portal')).toContain('<p>The checks began <time');
  await sql`update application_checks set finished_at = now(), passed = 1 where application_id = 'new'`;
  expect((await steps())[1]).toBe('Check your webhooks: done');
  expect(await page('/portal/checks')).toContain('Every rule that was checked holds');
  await sql`update application_checks set failed = 2 where application_id = 'new'`;
  expect((await steps())[1]).toBe('Check your webhooks');
  expect(await page('/portal/checks')).toContain('2 checks of your webhooks failed');
  await closeRun(sql, await anOpenRun(sql, 'new'), { outcome: 'succeeded', reason: null });
  expect((await steps())[2]).toBe('The platform reads your list: done');
  expect(await page('/portal/runs')).toContain('<h2>No open failures</h2>');

  await sql`update applications set status = 'paused', pause_reason = 'ten runs failed' where application_id = 'new'`;
  const paused = await page('/portal');
  expect(paused).toContain('<p dir="auto">ten runs failed.</p>');
  expect(paused).toContain('then write to the operators: only they resume it.');
  expect(paused).toContain(', before the pause');
  const runs = await page('/portal/runs');
  expect(runs).toContain('<p dir="auto">ten runs failed.</p>');
  expect(runs).not.toContain('No open failures');
  await sql`update applications set status = 'active' where application_id = 'new'`;
  await upsertGames(sql, 'new', [fetchedGame({ game_id: 'first' })]);
  expect(await steps()).toEqual([]);
});
