import { beforeAll, expect, test } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'viewer');
  cookie = await signIn(served.url, 'olga');
  await addApplication(sql, 'acme');
  await recordFailures(sql, 'acme', 'query_game_detail', [
    {
      application_game_id: 'a/b & c',
      kind: 'invalid_data',
      reasons: [{ path: 'game_icon.3', code: 'not_http_url' }],
    },
    { application_game_id: ' spaced  id ', kind: 'timeout', reasons: [] },
  ]);
  await upsertGames(sql, 'acme', [fetchedGame({ game_id: ' stored ', game_name: 'Lantern' })]);
});

const get = async (path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();

test('the example of a failure leads to what happened to that id, though no game has it', async () => {
  for (const page of ['/failures', '/applications/acme']) {
    const [, href = ''] =
      /<a href="([^"]+)"><span class="mono">a\/b &amp; c<\/span><\/a>/.exec(await get(page)) ?? [];
    const shown = await get(href.replaceAll('&amp;', '&'));
    expect(shown).toContain('<h2>Timeline</h2>');
    expect(shown).toContain('game_icon.3');
  }
});

test('an id with white space at its ends is found, and what was typed with spaces around it too', async () => {
  const [, href = ''] =
    /<a href="([^"]+)"><span class="mono"> spaced {2}id <\/span><\/a>/.exec(await get('/failures')) ?? [];
  expect(await get(href.replaceAll('&amp;', '&'))).toContain('<h2>Timeline</h2>');
  for (const q of ['+stored+', '+Lantern+', '++a/b+%26+c+'])
    expect(await get(`/games?application=acme&q=${q}`)).not.toContain('No game matches.');
});

test('an id of which nothing is known, and an application that is not known, have no timeline', async () => {
  for (const path of ['/games?application=acme&q=other', '/games?application=nobody&q=other']) {
    const shown = await get(path);
    expect(shown).toContain('No game matches.');
    expect(shown).not.toContain('Timeline');
  }
});
