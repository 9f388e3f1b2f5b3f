// What the head of a game says: how its latest read ended, and who acts next.
import { expect, test } from 'vitest';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { clearFailures, recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

const gameIdOf = async (id: string): Promise<string> => {
  const [game] = await database.sql<{ game_id: string }[]>`
    select game_id from games where application_game_id = ${id}`;
  return game?.game_id ?? '';
};

test('a game that waits says that it cannot be passed before its developer is verified', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'acer', [{ game_id: 'a-1' }, { game_id: 'a-2' }]);
  await decideGame(sql, { game_id: await gameIdOf('a-2'), audit_status: 'passed' });
  const needed = 'It can be passed once your <a href="/portal">identity check</a> is verified.';
  expect(await page('/portal/game?id=a-1')).not.toContain(needed);
  await setDecisionRules(sql, { games_need_verdict: true });
  expect(await page('/portal/game?id=a-1')).toContain(needed);
  expect(await page('/portal/game?id=a-2'), 'it is passed').not.toContain(needed);
  await setDecisionRules(sql, { games_need_verdict: false });
});

test('an appeal that was refused stands at the head of its game with the answer, until the game is rejected anew', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'beech', [{ game_id: 'b-1' }]);
  const game_id = await gameIdOf('b-1');
  const reject = (revision: number) =>
    decideGame(sql, { game_id, revision, audit_status: 'rejected', reason: 'rights' });
  await reject(1);
  await insertAppeal(sql, { game_id, text: 'It is ours.' });
  expect(await page('/portal/game?id=b-1')).toContain('<h3>You have appealed</h3>');
  const answer = 'The register has no such number.';
  await decideAppeal(sql, { game_id, outcome: 'upheld', decided_by: 'rui', answer });
  const refused = await page('/portal/game?id=b-1');
  expect(refused).toMatch(/<p class="lead">[^\n]*<span class="badge bad">appeal refused</);
  expect(refused).toMatch(
    /<h3>Appeal refused<\/h3><blockquote dir="auto">The register has no such number\.</,
  );
  expect(refused).not.toMatch(/You have appealed|rejection upheld|\brui\b/);
  expect(refused).toContain('<button class="button primary">Read this game now</button>');
  expect(await page('/portal/games'), 'one term').toContain('appeal refused');

  await upsertGames(sql, 'beech', [fetchedGame({ game_id: 'b-1', game_info: 'Another text.' }, new Date())]);
  await reject(2);
  const anew = await page('/portal/game?id=b-1');
  expect(anew).toContain('<h3>Appeal</h3>');
  expect(anew).not.toContain('<h3>Appeal refused</h3>');
});

/** The tones and titles of the cards of a page, from its head on. */
const cards = (shown: string): string[] =>
  [...shown.matchAll(/<section class="card ([a-z]+)">\s*<div class="card-head"><h2>(.*?)<\/h2>/gs)].map(
    ([, tone, title]) => `${tone}: ${title}`,
  );

test('data that is refused stands first, whatever the state of its game, and its card has the one button of a pull', async () => {
  const { sql } = database;
  const { page } = await arrive(
    sql,
    portal.url,
    'cedar',
    ['c-1', 'c-2', 'c-3', 'c-4'].map((id) => ({ game_id: id })),
  );
  await decideGame(sql, { game_id: await gameIdOf('c-2'), audit_status: 'passed' });
  await decideGame(sql, { game_id: await gameIdOf('c-3'), audit_status: 'rejected', reason: 'rights' });
  const fail = (kind: string, code: string, path: string, ids = ['c-1']) =>
    recordFailures(
      sql,
      'cedar',
      'query_game_detail',
      ids.map((id) => ({ application_game_id: id, kind, reasons: [{ path, code }] })),
    );
  const refuse = (ids?: string[]) => fail('invalid_data', 'not_http_url', 'game_store_video', ids);
  await refuse(['c-1', 'c-2', 'c-3']);
  const refused = 'warn: Your latest change is not stored: correct game_store_video, then have the game read';
  const why = 'query_game_detail failed once. The answer does not match';
  for (const [id, state] of [
    ['c-1', /^info: The game is not live: it waits for its first decision$/],
    ['c-2', /^good: The game is live$/],
    ['c-3', /^bad: Rejected: /],
  ] as const) {
    const shown = await page(`/portal/game?id=${id}`);
    expect(cards(shown)).toEqual([refused, expect.stringMatching(state)]);
    expect(shown).toMatch(/>Read <time [^>]*>[^<]*<\/time>: it failed\.</);
    expect(shown.split(why), 'it is said once').toHaveLength(2);
    expect(shown.split('<button class="button primary">Read this game now</button>')).toHaveLength(2);
    expect(shown).not.toContain('You need not do anything');
    expect(shown.includes('Players see the content that was passed')).toBe(id === 'c-2');
    if (id === 'c-3') expect(shown, 'that button is first').toContain('and what the card above says.');
  }
  await fail('connect_failed', 'econnrefused', '', ['c-3']);
  await sql`update applications set failing_since = now() where application_id = 'cedar'`;
  expect(cards(await page('/portal/game?id=c-3')), 'an outage is said once').toEqual([
    'warn: The latest read of this game failed: make your server reachable, then have the game read',
    expect.stringMatching(/^bad: Rejected: /),
  ]);
  await sql`update applications set failing_since = null where application_id = 'cedar'`;
  await fail('http_status', '<b>500</b>', '');
  const [title] = cards(await page('/portal/game?id=c-1'));
  expect(title, 'no field is named').toBe(
    'warn: The latest read of this game failed: correct your server, then have the game read',
  );
  expect(await page('/portal/game?id=c-1')).toContain('&lt;b&gt;500&lt;/b&gt;');
  await refuse();
  await sql`update applications set status = 'paused' where application_id = 'cedar'`;
  const paused = await page('/portal/game?id=c-1');
  expect(cards(paused)[1]).toBe(refused.replace('have the game read', 'write to the operators'));
  expect(paused).not.toContain('Read this game now</button>');
  await sql`update applications set status = 'active' where application_id = 'cedar'`;
  await clearFailures(sql, 'cedar', 'query_game_detail', ['c-1']);
  const reasons = [{ path: 'game_icon', code: 'not_http_url' }];
  await recordFailures(sql, 'cedar', 'query_game_list', [
    { application_game_id: 'c-1', kind: 'invalid_item', reasons },
  ]);
  const ofList = await page('/portal/game?id=c-1');
  expect(cards(ofList)[0]).toBe(
    'warn: Its row in your list is not valid: correct game_icon, then have your list read',
  );
  expect(ofList).toContain('Read my list now</button>');
  expect(cards(await page('/portal/game?id=c-4')), 'another game').toHaveLength(1);
});

test('a game says how its latest read ended, until something else happens to it', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'date', [{ game_id: 'd-1' }]);
  const read = async () =>
    />Read <time [^>]*>[^<]*<\/time>: ([^<]*)</.exec(await page('/portal/game?id=d-1'))?.[1];
  const answer = (changes = {}) =>
    upsertGames(sql, 'date', [fetchedGame({ game_id: 'd-1', ...changes }, new Date())]);
  expect(await read()).toBe('the game is stored.');
  await answer();
  expect(await read()).toBe('nothing changed.');
  await answer({ game_info: 'Another text.' });
  expect(await read()).toBe('the game is updated.');
  await decideGame(sql, { game_id: await gameIdOf('d-1'), revision: 2, audit_status: 'passed' });
  expect(await read(), 'its decision is newer').toBeUndefined();
  await answer({ game_info: 'Another text.' });
  expect(await read()).toBe('nothing changed.');
});
