import { expect, test } from 'vitest';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('the navigation counts rejected games and failures, and marks events while they do not arrive', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'elm', [{ game_id: 'one' }, { game_id: 'two' }]);
  const places = async (path = '/portal') => {
    const [, listed = ''] = (await page(path)).match(/<nav aria-label="Main">(.*?)<\/nav>/s) ?? [];
    return listed.split('</li>').map((item) => item.replaceAll(/<[^>]*>/g, '').trim());
  };
  expect(await places()).toEqual(['Overview', 'Games', 'Failures', 'Events', 'Checks', '']);
  expect(await page('/portal')).toContain('or <a href="/portal/events">set an address of yours</a>.');
  for (const id of ['one', 'two']) {
    const game = fetchedGame({ game_id: `${id}-more` });
    await upsertGames(sql, 'elm', [game]);
    await decideGame(sql, { game_id: game.game_id, audit_status: 'rejected', reason: 'incomplete' });
  }
  await recordFailures(sql, 'elm', 'query_game_detail', [
    { application_game_id: 'broken', kind: 'timeout', reasons: [] },
  ]);
  await upsertEventWebhook(sql, {
    application_id: 'elm',
    url: 'https://elm.example/events',
    secret: Buffer.alloc(0),
    secret_keys: [],
  });
  const counted = ['Overview', 'Games 2', 'Failures 1', 'Events', 'Checks', ''];
  expect(await places('/portal/checks')).toEqual(counted);
  await sql`update event_webhooks set failing_since = now(), last_error = 'timeout' where application_id = 'elm'`;
  expect(await places()).toContain('Events !do not arrive');
  expect(await page('/portal')).toContain('<span class="warn" aria-hidden="true">!</span>');
  // A fault of the platform is no task of the developer's.
  await sql`update event_webhooks set last_error = 'unknown_key' where application_id = 'elm'`;
  expect(await places()).toEqual(counted);
  await sql`
    update event_webhooks set status = 'off', off_reason = 'The address failed.', off_at = now(), last_error = 'timeout'
    where application_id = 'elm'`;
  expect(await places()).toContain('Events !do not arrive');
  const off = await page('/portal');
  expect(off).toContain('Events are switched off');
  expect(off, 'and what to do').toContain(
    'Correct your server, then send a test: it switches the address on again.',
  );
  expect(off).toMatch(/name="act" value="test">\s*<button class="button primary">Send a test</);
  expect(off).toContain('<span class="bad" aria-hidden="true">!</span>');
});

test('the navigation marks failures while games are not read, and counts the rules that do not hold', async () => {
  const { sql } = database;
  const { page, said } = await arrive(sql, portal.url, 'maple', [{ game_id: 'one' }]);
  await said('/portal/checks', {});
  expect(await page('/portal')).not.toContain('Read the report');
  const rule = {
    name: 'detail.game-icon',
    outcome: 'failed',
    rule: 'game_icon is an array.',
    problem: 'data.game_icon is a string.',
  };
  await sql`
    update application_checks set finished_at = now(), failed = 2, cases = ${sql.json([rule])}
    where application_id = 'maple'`;
  const broken = await page('/portal');
  expect(broken).toContain('<li><span class="mono">query_game_detail</span><br>');
  expect(broken).toContain('Received: <strong>data.game_icon is a string.');
  expect(broken).toMatch(/Checks<\/span> <span class="count"><span class="bad">2</);
  expect(broken).toContain('2 checks of your webhooks failed');
  expect(broken).toContain('<a class="button primary" href="/portal/checks">Read the report</a>');
  expect(broken).not.toContain('games are not read');
  await sql`update applications set failing_since = now() where application_id = 'maple'`;
  expect(await page('/portal')).toMatch(/Failures<\/span> <span class="count"><span class="bad"[^>]*>!</);
  await sql`update applications set failing_since = null, status = 'paused' where application_id = 'maple'`;
  const paused = await page('/portal');
  expect(paused).toContain('games are not read');
  expect(paused).toContain('<span class="badge bad">paused</span>');
});

test('an address without a page keeps the navigation of a developer, and leads to the sign-in without a session', async () => {
  const { call } = await arrive(database.sql, portal.url, 'lost');
  const answer = await call('/portal/nowhere');
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('<nav aria-label="Main">');
  const unknown = await fetch(`${portal.url}/portal/nowhere`, { redirect: 'manual' });
  expect(unknown.headers.get('location')).toBe('/portal/sign-in');
});
