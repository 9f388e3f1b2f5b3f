import { expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { listAudit } from '#db/queries/audit.ts';
import { overturnRejection, upholdRejection } from '#src/operations/appeals.ts';
import { LEE } from '#test/operations/decided-games.ts';
import { arrive } from '#test/portal/developer.ts';
import { runCli } from '#test/support/cli.ts';
import { useTestConsole } from '#test/support/console.ts';
import { giveAddress } from '#test/support/events.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('a developer sends own events again since a time, delivered ones too, and so often at most', async () => {
  const { sql } = database;
  const ids = ['e-1', 'e-2', 'e-3'];
  const { page, said } = await arrive(
    sql,
    portal.url,
    'elm',
    ids.map((game_id) => ({ game_id })),
  );
  expect(await page('/portal/events')).not.toContain('Send again');
  expect(await said('/portal/events', { since: '1h' })).toMatch(/^bad elm has no address for events/);
  await giveAddress(sql, 'elm', 'http://127.0.0.1:9/events');
  const games = await sql<
    { game_id: string }[]
  >`select game_id from games where application_id = 'elm' order by 1`;
  for (const { game_id } of games) await decideGame(sql, { game_id, audit_status: 'passed' });
  await sql`update event_deliveries set state = 'delivered', delivered_at = now() where application_id = 'elm'`;
  await sql`
    update events set created_at = now() - interval '3 days'
    where event_id = (select min(event_id::text)::uuid from events where application_id = 'elm')`;
  const pending = async () => {
    const rows = await sql`select from event_deliveries where application_id = 'elm' and state = 'pending'`;
    return rows.length;
  };
  expect(await said('/portal/events', { since: '' })).toBe('good Events to be sent now: 0.');
  expect(await said('/portal/events', { since: 'soon' })).toMatch(/^bad since Give a duration such as 24h/);
  expect(await said('/portal/events', { since: '24h' })).toBe('good Events to be sent now: 2.');
  expect(await pending()).toBe(2);
  expect(await said('/portal/events', { since: '7d' })).toBe('good Events to be sent now: 3.');
  await sql`update event_webhooks set status = 'off' where application_id = 'elm'`;
  expect(await said('/portal/events', { since: '' })).toMatch(/^good The address is switched on/);

  // Those that did not arrive at the former address, but for the one before the first address.
  await sql`update event_deliveries set state = 'failed' where application_id = 'elm'`;
  await giveAddress(sql, 'elm', 'http://127.0.0.1:9/other');
  expect(await said('/portal/events', { since: '' })).toBe('good Events to be sent now: 2.');

  let last = '';
  for (let n = 0; n < 25 && !last.startsWith('bad'); n += 1)
    last = await said('/portal/events', { since: '7d' });
  expect(last).toMatch(/^bad Too many requests: retry in \d+ min/);
  const log = await listAudit(sql, { action: 'event.retry', limit: 100 });
  expect(log.length).toBeLessThanOrEqual(20);
  expect(log[0]).toMatchObject({ actor: 'elm', actor_kind: 'application', subject: 'application:elm' });
});

test('a developer sends one event again that the platform has given up, and none of another application', async () => {
  const { sql } = database;
  const { page, said } = await arrive(sql, portal.url, 'alder', [{ game_id: 'a-1' }, { game_id: 'a-2' }]);
  await arrive(sql, portal.url, 'hazel', [{ game_id: 'h-1' }]);
  for (const application_id of ['alder', 'hazel'])
    await giveAddress(sql, application_id, 'http://127.0.0.1:9/events');
  const games = await sql<{ game_id: string }[]>`
    select game_id from games where application_id in ('alder', 'hazel')`;
  for (const { game_id } of games) await decideGame(sql, { game_id, audit_status: 'passed' });
  await sql`
    update event_deliveries set state = 'failed', attempts = 5, last_error = 'timeout'
    where application_id in ('alder', 'hazel')`;
  const failed = async (application_id: string) => {
    const rows = await sql<{ event_id: string }[]>`
      select event_id from event_deliveries where application_id = ${application_id} and state = 'failed'`;
    return rows.map(({ event_id }) => event_id);
  };
  const shown = await page('/portal/events');
  expect(shown).toContain('Given up after 5 attempts. No complete answer within 15 seconds.');
  expect(shown.split('>Send again<span class="hidden">: game.passed of ')).toHaveLength(3);
  await sql`update event_webhooks set status = 'off' where application_id = 'alder'`;
  expect(await page('/portal/events'), 'a test comes first').not.toContain('>Send again<span');
  await sql`update event_webhooks set status = 'active' where application_id = 'alder'`;
  for (const path of ['/portal', '/portal/events'])
    expect(await page(path), 'that they were given up is no calm').toMatch(
      /<h2>2 events did not arrive<.*action="\/portal\/events" class="inline">.*<button class="button primary">Send them again<.*href="\/portal\/events\?state=failed">See them</s,
    );
  const [one = '', other = ''] = await failed('alder');
  expect(shown).toContain(`<input type="hidden" name="event_id" value="${one}">`);
  expect(await said('/portal/events', { event_id: one })).toBe('good Events to be sent now: 1.');
  expect(await failed('alder')).toEqual([other]);

  const [theirs = ''] = await failed('hazel');
  expect(await said('/portal/events', { event_id: theirs })).toBe('good Events to be sent now: 0.');
  expect(await failed('hazel')).toEqual([theirs]);
  const list = await page('/portal/events?state=failed');
  expect(list).not.toContain(theirs);
});

test('a test that switches an address on says how many events it did not get, which Send again sends', async () => {
  const { sql, databaseUrl } = database;
  const events = ['g-1', 'g-2'].map((game_id) => ({ game_id }));
  const { said } = await arrive(sql, portal.url, 'yew', [...events, { game_id: 'g-3' }]);
  await giveAddress(sql, 'yew', 'http://127.0.0.1:9/events');
  const games = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'yew'`;
  const pass = (game_id = '') => decideGame(sql, { game_id, audit_status: 'passed' });
  await pass(games[0]?.game_id);
  await sql`update event_deliveries set state = 'delivered', delivered_at = now() where application_id = 'yew'`;
  await sql`update event_webhooks set status = 'off' where application_id = 'yew'`;
  await pass(games[1]?.game_id);
  await pass(games[2]?.game_id);
  const send = { act: 'test' };
  expect(await said('/portal/events/address', send)).toBe(
    'good A test is sent now: its delivery is the first one below. The address is switched on. Events that were not delivered: 2. Send them again on this page.',
  );
  const test = (...args: string[]) => runCli(['event', 'test', 'yew', ...args], asOperator(databaseUrl));
  // The first test is on its way.
  expect(JSON.parse((await test('--json')).stdout)).toMatchObject({ switched_on: false, undelivered: 2 });
  expect((await test()).stdout).toMatch(
    /^It is sent now: .*\nEvents that were not delivered: 2\. event retry --application yew sends them\.\n$/,
  );
  expect(await said('/portal/events', { since: '' })).toBe('good Events to be sent now: 5.');
  expect(await said('/portal/events/address', send)).toBe(
    'good A test is sent now: its delivery is the first one below.',
  );
});

test('events begin with an address that is switched off, and a test switches it on; without an address no row says so', async () => {
  const { sql } = database;
  const { page, said } = await arrive(sql, portal.url, 'oleander', [{ game_id: 'o-1' }]);
  const games = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'oleander'`;
  await decideGame(sql, { game_id: games[0]?.game_id ?? '', audit_status: 'passed' });
  const bare = await page('/portal/events');
  expect(bare).not.toContain('No active address');
  expect(bare, 'its type says that it was passed').not.toContain('A reviewer decided');
  expect(bare, 'no event has a delivery').not.toContain('every delivery');
  expect(bare).toContain('<option value="game.rejected">game.rejected</option>');
  expect(await page('/portal/events?type=game.rejected')).not.toContain('>o-1<');
  expect(bare).toContain('<summary class="button primary">Set an address…</summary>');
  await giveAddress(sql, 'oleander', 'http://127.0.0.1:9/events');
  expect(await page('/portal/events')).toContain('<h2>Where events are sent</h2>');
  await sql`
    update event_webhooks set status = 'off', off_reason = 'The address failed.', off_at = now(), last_error = 'timeout'
    where application_id = 'oleander'`;
  const off = await page('/portal/events');
  const places = [
    'Events are switched off',
    'The address failed. Last attempt: No complete answer within 15 seconds. Events since then',
    'button primary">Send a test',
    '<h2>Where events are sent</h2>',
  ].map((part) => off.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(off.split('Send a test')).toHaveLength(2);
  expect(await said('/portal/events/address', { act: 'test' })).toContain('The address is switched on.');
});

test('an event says how an appeal ended, and why a game was rejected', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'rowan', [{ game_id: 'r-1' }, { game_id: 'r-2' }]);
  const games = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'rowan'`;
  for (const [at, { game_id }] of games.entries()) {
    await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'incomplete' });
    await insertAppeal(sql, { game_id, text: 'It is whole.' });
    const given = { game_id, revision: 1, text: 'Read.' };
    if (at === 0) await operateAs(sql, LEE, upholdRejection, given);
    else await operateAs(sql, LEE, overturnRejection, given);
  }
  expect(await page('/portal/games')).toContain('<span class="badge bad">appeal refused</span>');
  const shown = await page('/portal/events');
  expect(shown.split('<small dir="auto">Information is missing or incomplete.</small>')).toHaveLength(3);
  expect(shown).toMatch(/badge bad">game\.appeal_upheld<.{0,40}Another reviewer kept the rejection\./);
  expect(shown).toMatch(/badge good">game\.passed<.{0,40}Another reviewer took the rejection back\./);
  expect(shown, 'the end of an id is not cut').toMatch(
    /<span>[0-9a-f-]{32}<\/span><span>[0-9a-f]{4}<\/span><\/copy-text>/,
  );
});
