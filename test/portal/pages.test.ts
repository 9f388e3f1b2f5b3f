import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { startTestConsole, type TestConsole } from '#test/support/console.ts';
import { giveAddress } from '#test/support/events.ts';
import { addToken } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { decideGame } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const fleet = useTestFleet(fleetBackend(), 1);
let portal: TestConsole;
beforeAll(async () => {
  portal = await startTestConsole(fleet, { prefix: fleet.prefix });
});
afterAll(async () => {
  await portal?.stop();
});

/** An application with a rejected game, an invalid one, events that do not arrive, and a token. */
const fill = async () => {
  const { server } = await fleet.addApplication('lantern-works', 12);
  const games = server.games.all();
  const [rejected, passed, broken, gone] = games;
  if (rejected === undefined || passed === undefined || broken === undefined || gone === undefined)
    throw new Error('no games');
  server.games.update(broken.game_id, { game_store_video: 'ftp://cdn.example/film' });
  await giveAddress(fleet.sql, 'lantern-works', 'http://127.0.0.1:9/hooks/catalogue');
  await fleet.sync('lantern-works');
  const idOf = async (id: string) =>
    (await findApplicationGame(fleet.sql, 'lantern-works', id))?.game_id ?? '';
  const text = 'The description ends in the middle of a sentence.';
  await decideGame(fleet.sql, {
    game_id: await idOf(rejected.game_id),
    audit_status: 'rejected',
    reason: 'incomplete',
    text,
  });
  await decideGame(fleet.sql, { game_id: await idOf(passed.game_id), audit_status: 'passed' });
  server.games.remove(gone.game_id);
  await fleet.sync('lantern-works');
  await addUrgentJobs(fleet.sql, fleet.producer);
  await until('the first delivery has failed', async () => {
    const [row] = await fleet.sql`select from event_webhooks where failures > 0`;
    return row !== undefined;
  });
  const { token } = await addToken(fleet.sql, 'lantern-works');
  return { server, token, rejected, passed, broken, gone, text };
};

describe.runIf(hasBrowser())('the portal in Chromium', () => {
  const browser = useBrowser();

  test('a developer signs in, finds a rejected game and an invalid one, and runs the checks; axe-core finds nothing', async () => {
    const { server, token, rejected, passed, broken, gone, text } = await fill();
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    const errors = collectErrors(page);
    const problems: string[] = [];
    const inspect = async (name: string) =>
      void problems.push(...(await inspectPage(page, `portal-${name}`)));

    await page.goto(new URL('/portal', portal.url).href);
    await inspect('sign-in');
    await page.getByLabel('API token').fill('gct_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await inspect('overview');

    await page.getByRole('link', { name: /^Games 1$/ }).click();
    await page.getByRole('link', { name: /^rejected 1 1 to fix$/ }).click();
    await page.getByText(text).waitFor();
    await inspect('rejected');
    await page.getByRole('link', { name: /^withdrawn 1$/ }).click();
    await page.getByRole('cell', { name: gone.game_id }).waitFor();
    await page.getByRole('cell', { name: 'Your list no longer names it.' }).waitFor();
    await inspect('withdrawn');
    await page.getByRole('link', { name: gone.game_name.trim() }).click();
    await page.getByText('The game is withdrawn: your application no longer lists it').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: /^rejected 1 1 to fix$/ }).click();
    await page.getByRole('link', { name: rejected.game_name.trim() }).click();
    await page.getByRole('heading', { name: 'Rejected: Information is missing or incomplete' }).waitFor();
    await inspect('game-rejected');

    // The next game is searched for at the head of the page, not behind all of this one.
    expect((await page.getByLabel('Name or game_id').boundingBox())?.y).toBeLessThan(200);
    await page.getByLabel('Name or game_id').fill(broken.game_id);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: 'The game is not stored: correct game_store_video' }).waitFor();
    await inspect('game-invalid');

    // A change that is refused, and its correction: each pull says how it ended.
    await page.goto(new URL(`/portal/game?id=${passed.game_id}`, portal.url).href);
    const pull = async (game_store_video: string, ended: string) => {
      server.games.update(passed.game_id, { game_store_video });
      await page.getByRole('button', { name: 'Read this game now' }).click();
      await page.getByRole('heading', { name: 'Reading the game' }).waitFor();
      await addUrgentJobs(fleet.sql, fleet.producer);
      await page.getByText(ended).waitFor();
    };
    await pull('ftp://cdn.example/film', 'Your latest change is not stored: correct game_store_video');
    await inspect('game-refused');
    await pull('https://cdn.example/film', ': the game is updated.');

    await page.getByRole('link', { name: /^Failures 1$/ }).click();
    await page.getByRole('cell', { name: broken.game_id }).waitFor();
    await inspect('runs');
    await page.getByRole('link', { name: 'Events' }).click();
    await page
      .getByText(/attempts?\. No connection, .*\.\s*Next attempt/)
      .first()
      .waitFor();
    await inspect('events');
    const head = await page.getByRole('columnheader', { name: 'Delivery' }).boundingBox();
    expect(head?.y).toBeLessThan(540);
    await page.getByText('Send events again…').click();
    await page.getByRole('button', { name: 'Send again' }).waitFor();
    await inspect('events-again');
    await page.getByText('Change…').click();
    await inspect('events-address');

    await page.getByRole('link', { name: 'Checks' }).click();
    await page.getByRole('button', { name: 'Run the checks' }).click();
    // The page fetches the report by itself.
    await page.getByText(/\d+ passed, \d+ failed, \d+ skipped/).waitFor();
    await page.getByText('game_store_video').first().waitFor();
    await inspect('checks');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    expect(problems).toEqual([]);
    expect(errors.filter((error) => !error.includes('401'))).toEqual([]);
  });
});
