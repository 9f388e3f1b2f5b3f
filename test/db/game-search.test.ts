import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { gameList } from '#src/lists/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { namedGame, searchesOf } from '#test/support/game-names.ts';
import { readPage } from '#test/support/lists.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const GAMES = 10_000;
const BATCH = 1_000;

describe('a search of ten thousand names in three scripts', () => {
  const database = useTestDatabase();
  const land = (games: { application_game_id: string; game_name: string }[], application_id = 'names') =>
    upsertGames(
      database.sql,
      application_id,
      games.map(({ application_game_id, game_name }) =>
        fetchedGame({ game_id: application_game_id, game_name }),
      ),
    );
  const find = async (search: string, application_id?: string) =>
    (await readPage(database.sql, gameList, { search, application_id }, { limit: 10 })).rows.map(
      ({ application_game_id }) => application_game_id,
    );

  beforeAll(async () => {
    for (const id of ['names', 'others']) await addApplication(database.sql, id);
    for (let from = 0; from < GAMES; from += BATCH)
      await land(Array.from({ length: BATCH }, (_, n) => namedGame(from + n)));
    await land(
      Object.entries({
        farm: 'Farm Clash',
        harbor: 'Harbor Hollow',
        cafe: 'Café de l’Étoile',
        arabic: 'المزرعة السعيدة',
        chinese: '星河餐厅',
        thai: 'ร้านอาหารกาแล็กซี',
        korean: '은하수 식당',
        joined: 'Starforge',
        sign: "100% Cat's & 'Dog'",
      }).map(([application_game_id, game_name]) => ({ application_game_id, game_name })),
      'others',
    );
  });

  test('finds no game of another application whose words name this one', async () => {
    const { sql } = database;
    await sql`
      update games set search = search || array_to_tsvector('{@names}') where application_game_id in ('harbor', 'farm')`;
    expect(await find('harbor hollow', 'others')).toEqual(['harbor']);
    expect(await find('harbor hollow', 'names')).not.toContain('harbor');
    expect(await find('farm', 'names')).not.toContain('farm');
  });

  test('has the game among the first ten in 95 of a hundred searches', async () => {
    const missed: object[] = [];
    for (const { kind, search, wanted } of searchesOf(GAMES))
      if (!(await find(search)).includes(wanted)) missed.push({ kind, search, wanted });
    expect(missed.length, JSON.stringify(missed)).toBeLessThanOrEqual(5);
  });

  test.each([
    ['farm clsh', 'farm'],
    ['hollow harbour', 'harbor'],
    ['arbor', 'harbor'],
    ['etoile cafe', 'cafe'],
    ['مزرعه', 'arabic'],
    ['السعيده مزرعة', 'arabic'],
    ['餐', 'chinese'],
    ['河餐厅', 'chinese'],
    ['星河歺厅', 'chinese'],
    ['กาแล็กซี', 'thai'],
    ['식당', 'korean'],
    ['star forge', 'joined'],
    ['100% cats', 'sign'],
    ["'dog' & |!()<->:*\\", 'sign'],
  ])('%s finds %s', async (search, wanted) => {
    expect((await find(search)).slice(0, 10)).toContain(wanted);
    expect(await find(search, 'names')).not.toContain(wanted);
  });

  test('among more games with the word than are compared, one of another status is found', async () => {
    const name = (n: number) => ({ application_game_id: `gondola-${n}`, game_name: `Gondola ${n}` });
    await land(Array.from({ length: 1_001 }, (_, n) => name(n)));
    await database.sql`update games set audit_status = 'rejected', audit_time = now()
                       where application_game_id = 'gondola-1000'`;
    const { rows } = await readPage(
      database.sql,
      gameList,
      { search: 'gondola', audit_status: 'rejected' },
      { limit: 10 },
    );
    expect(rows.map(({ application_game_id }) => application_game_id)).toEqual(['gondola-1000']);
  });

  test('a game that has one of four words is not what was meant', async () => {
    await land([{ application_game_id: 'one word', game_name: 'hasOwnProperty' }], 'others');
    expect(await find('wrong-has-four-words')).not.toContain('one word');
  });

  test('a new name is found in place of the former one', async () => {
    await land([{ application_game_id: 'renamed', game_name: 'Quixotic Zeppelin' }], 'others');
    expect(await find('zepelin quixotic')).toContain('renamed');
    const renamed = fetchedGame({ game_id: 'renamed', game_name: 'Marmalade Submarine' }, new Date());
    await upsertGames(database.sql, 'others', [renamed]);
    expect(await find('zeppelin')).not.toContain('renamed');
    expect(await find('submarin marmelade')).toContain('renamed');
  });

  test('names that change without end leave no word behind, and take none from another game', async () => {
    const words = async () =>
      (await database.sql`select distinct word from search_words where word like 'zz%' order by word`).map(
        ({ word }) => word,
      );
    let fetched_ms = Date.now();
    const rename = async (game_id: string, game_name: string) => {
      fetched_ms += 1;
      await upsertGames(database.sql, 'others', [fetchedGame({ game_id, game_name }, new Date(fetched_ms))]);
    };
    await rename('other', 'Zzshared');
    for (const word of ['Zzfirst', 'Zzsecond', 'Zzthird']) await rename('changing', `${word} Zzshared`);
    expect(await words()).toEqual(['zzshared', 'zzthird']);
    await rename('changing', '100% \\ Cat’s & Dog');
    expect(await words()).toEqual(['zzshared']);
  });

  test('a text without a letter, or with very many words, is no error', async () => {
    for (const search of ['?', '😀', '\\', "'", '%', 'a '.repeat(250), 'x'.repeat(512), '‮'])
      expect(await find(search)).toBeInstanceOf(Array);
  });
});
