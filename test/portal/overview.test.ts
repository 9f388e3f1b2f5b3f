import { expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('the overview begins with what to mend: a rejected game by its name, a field, the address of events', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'hazel');
  const reject = async (id: string) => {
    const game = fetchedGame({ game_id: id, game_name: `Kite ${id}` });
    await upsertGames(sql, 'hazel', [game]);
    await decideGame(sql, { game_id: game.game_id, audit_status: 'rejected', reason: 'incomplete' });
  };
  await reject('one');
  await recordFailures(sql, 'hazel', 'query_game_detail', [
    {
      application_game_id: 'broken',
      kind: 'invalid_data',
      reasons: [{ path: 'game_icon.0', code: 'not_http_url' }],
    },
  ]);
  const webhook = { application_id: 'hazel', url: 'https://hazel.example/events', secret: Buffer.alloc(0) };
  await upsertEventWebhook(sql, { ...webhook, secret_keys: [] });
  await sql`update event_webhooks set failing_since = now(), last_error = 'connect_failed'`;
  const first = await page('/portal');
  const places = [
    'role="search"',
    '<h2>Kite one was rejected</h2>',
    'Information is missing or incomplete</strong></span></li>',
    'Deliveries fail. No connection, or it closed before the answer began.',
    'game_icon.0 is not an http or https address',
    '<small>1 game: <a class="mono" href="/portal/game?id=broken">',
    '<span>withdrawn</span>',
  ].map((part) => first.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(first).toContain('<a class="button" href="/portal/events">See the deliveries</a>');
  expect(first).toContain('<a class="button primary" href="/portal/game?id=one">Open the game</a>');
  expect(first.split('button primary'), 'one step leads').toHaveLength(2);
  expect(first, 'of one game').toMatch(/<span>median wait /);
  const [one] = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'hazel'`;
  await insertAppeal(sql, { game_id: one?.game_id ?? '', text: 'It is whole.' });
  for (const path of ['/portal', '/portal/games'])
    expect(await page(path)).toMatch(/Kite one\b.{0,300}<span class="badge info">appeal waits</s);
  expect(first).toContain('The platform has not fetched it yet. You need not do anything.');
  expect(first).not.toContain('Waits for it');
  await setDecisionRules(sql, { games_need_verdict: true });
  expect(await page('/portal'), 'without a pending game').toContain(
    'Pending games: 0. They can be passed when',
  );
  await setDecisionRules(sql, { games_need_verdict: false });

  // A fault of the platform is no task of the developer's.
  await sql`update event_webhooks set last_error = 'unknown_key'`;
  expect(await page('/portal')).not.toContain('See the deliveries');
  await reject('two');
  expect(await page('/portal'), 'what needs its developer comes first').toMatch(/id=two".*id=one"/s);
  for (const id of ['three', 'four']) await reject(id);
  const many = await page('/portal');
  expect(many).toMatch(/Information is missing or incomplete<\/strong>:\s+4 games/);
  expect(many).toContain(
    '<a class="button primary" href="/portal/games?status=rejected">All rejected games</a>',
  );
});

test('games of a rejection are named before its note; three of many, the latest first, and those that were appealed last', async () => {
  const { sql } = database;
  const reasons = {
    'r-1': 'incomplete',
    'r-2': 'incomplete',
    'r-3': 'rights',
    's-1': 'duplicate',
    's-2': 'duplicate',
  } as const;
  const many = ['m-1', 'm-2', 'm-3', 'm-4', 'm-5'];
  const ids = [...Object.keys(reasons), ...many];
  const { page } = await arrive(
    sql,
    portal.url,
    'rowan',
    ids.map((game_id) => ({ game_id })),
  );
  const games = await sql<{ game_id: string; application_game_id: string }[]>`
    select game_id, application_game_id from games where application_id = 'rowan' order by application_game_id`;
  for (const { game_id, application_game_id: id } of games) {
    const reason = reasons[id as keyof typeof reasons] ?? 'other';
    const text = `Note: ${reason === 'duplicate' ? 'of both' : id}`;
    await decideGame(sql, { game_id, audit_status: 'rejected', reason, text });
    if (id === 'm-5') await insertAppeal(sql, { game_id, text: 'It is whole.' });
  }
  await recordFailures(sql, 'rowan', 'query_game_detail', [
    {
      application_game_id: 'm-4',
      kind: 'invalid_data',
      reasons: [{ path: 'game_icon.0', code: 'not_http_url' }],
    },
  ]);
  const refused = /id=m-4".{1,400}change not stored/s;
  const [shown, listed] = [await page('/portal'), await page('/portal/games?status=rejected')];
  for (const each of [shown, listed]) expect(each).toMatch(refused);
  expect(shown.split('change not stored')).toHaveLength(2);
  for (const id of ['r-1', 'r-2', 'r-3', 'm-4', 'm-3', 'm-2'])
    expect(shown).toMatch(new RegExp(`id=${id}".{1,160}</span><blockquote dir="auto">Note: ${id}<`, 's'));
  expect(shown).toMatch(/id=m-4.*id=m-3.*id=m-2.{1,120}and 2 more/s);
  expect(shown).not.toMatch(/id=m-[15]"/);
  expect(shown).toMatch(
    /id=s-\d".*id=s-\d".{1,80}The note of both:<\/p><blockquote dir="auto">Note: of both</s,
  );
  expect(shown.split('Note: of both')).toHaveLength(2);
  const decided = games.map(({ application_game_id: id }) => id).toReversed();
  expect(
    [...listed.matchAll(/<small class="mono">([rsm]-\d)</g)].map(([, id]) => id),
    'the latest first',
  ).toEqual(decided);
});

test('the overview of an application whose runs fail begins with that and with why', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'oak', [{ game_id: 'o-1' }]);
  expect(await page('/portal')).not.toContain('gets no answer');
  const run = await anOpenRun(sql, 'oak');
  await closeRun(sql, run, { outcome: 'failed', reason: 'query_game_list: connect_failed' });
  const once = await page('/portal');
  expect(once, 'one that does not count for the schedule').toContain('<h2>The last run failed</h2>');
  expect(once).toMatch(/no connection, or it closed before the answer began\.<.*Next run <time/s);
  expect(once).toContain('<span class="badge good">active</span>');
  expect(once, 'the navigation says it too').toContain('games are not read');
  expect(once).toContain('does not wait for the next run');
  expect(once).toContain('Read my list now</button>');
  await sql`update applications set failing_since = now() where application_id = 'oak'`;
  const shown = await page('/portal');
  expect(shown).toContain('<h2>The platform gets no answer from your server</h2>');
  expect(shown, 'the address may be wrong').toMatch(
    /Called: <span class="mono">https?:[^<]*<\/span>\. Have they moved\? Tell the operators:/,
  );
  expect(shown, 'nor is the record').toContain('It is fetched when your webhooks answer.');
  const why = 'query_game_list: no connection, or it closed before the answer began';
  expect(shown, 'a code is said in words').toContain(
    `The last run failed:</strong> <span dir="auto">${why}.</span>`,
  );
  expect(shown).toContain('<span class="badge bad">failing</span>');
  expect(await page('/portal/runs')).toContain(
    `The last run failed:</strong> <span dir="auto">${why}.</span>`,
  );
  expect(await page('/portal/runs')).not.toContain('No open failures');
  expect(shown).not.toContain('<span class="badge good">active</span>');

  const reason = '10 runs in a row failed since 2026-03-01 00:00 UTC';
  await sql`
    update applications set status = 'paused', pause_reason = ${`${reason}, the last with: query_game_list: connect_failed`}
    where application_id = 'oak'`;
  for (const path of ['/portal', '/portal/runs']) {
    const paused = await page(path);
    expect(paused, path).toContain(`<p dir="auto">${reason}.</p>`);
    expect(paused.split(why), 'why the last run failed is said once at the head').toHaveLength(
      path === '/portal/runs' ? 3 : 2,
    );
  }
  for (const path of ['/portal/game?id=o-1', '/portal/games']) {
    const ofGames = await page(path);
    expect(ofGames, 'in one line').not.toContain(reason);
    expect(ofGames).toMatch(/This page shows .*href="\/portal\/runs">See why<\/a>/s);
    expect(ofGames.split('See why'), 'one way to one page').toHaveLength(2);
  }
});
