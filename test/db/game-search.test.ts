import { expect, test } from 'vitest';
import { searchGames } from '#db/queries/game-search.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test.each([undefined, 'lantern'])(
  'a page of games has a next one only if more games match %s',
  async (text) => {
    const { sql } = database;
    const application_id = `acme-${text ?? 'all'}`;
    await addApplication(sql, application_id);
    const ids = ['one', 'two', 'three'];
    const games = ids.map((game_id) => fetchedGame({ game_id, game_name: `Lantern ${game_id}` }));
    const search = (before?: string) => searchGames(sql, { text, application_id, before, limit: 2 });
    await upsertGames(sql, application_id, games.slice(0, 2));
    expect(await search()).toMatchObject({ games: [{}, {}], next: null });

    await upsertGames(sql, application_id, games.slice(2));
    const first = await search();
    const second = await search(first.next ?? '');
    expect(first.next).toBe(first.games[1]?.game_id);
    const found = [...first.games, ...second.games].map((game) => game.application_game_id);
    expect(found.sort()).toEqual(ids.sort());
    expect(second).toMatchObject({ games: [{}], next: null });
  },
);

test('a search by id finds the game of the platform with it, and the games of all applications, withdrawn ones too', async () => {
  const { sql } = database;
  for (const application_id of ['first', 'second', 'third']) await addApplication(sql, application_id);
  await upsertGames(sql, 'first', [fetchedGame({ game_id: 'same' }), fetchedGame({ game_id: 'other' })]);
  await upsertGames(sql, 'second', [fetchedGame({ game_id: 'same' })]);
  await sql`update games set withdrawn_at = now() where application_id = 'second'`;
  const rows = await sql<{ game_id: string; application_id: string }[]>`
    select game_id, application_id from games where application_game_id = 'same' order by game_id`;
  const [first] = rows;
  // An application may give a game the platform's id of another one.
  await upsertGames(sql, 'third', [fetchedGame({ game_id: first?.game_id ?? '' })]);
  const search = async (text: string) =>
    (await searchGames(sql, { text, limit: 10 })).games.map(({ application_id }) => application_id);
  expect(await search('same')).toEqual(['first', 'second']);
  expect(await search(first?.game_id ?? '')).toEqual(['first', 'third']);
  expect(await search(first?.game_id.toUpperCase() ?? '')).toEqual(['first']);
});
