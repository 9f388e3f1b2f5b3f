import { beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { SIGNED_ADDRESSES } from '#test/support/signed-addresses.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
});

test('a card of the changed lane says what the game was and what changed, and not what was only signed anew', async () => {
  const [{ address, again } = { address: '', again: '' }] = SIGNED_ADDRESSES;
  await addApplication(database.sql, 'app');
  const before = fetchedGame({
    game_id: 'g',
    game_name: 'Kite',
    game_icon: [address],
    game_store_pic: ['https://cdn.example/one.png'],
  });
  await upsertGames(database.sql, 'app', [before]);
  await decideGame(database.sql, { game_id: before.game_id, audit_status: 'passed' });
  const after = fetchedGame(
    {
      game_id: 'g',
      game_name: 'Kite',
      game_info: 'Another text.',
      game_icon: [again],
      game_store_pic: ['https://cdn.example/two.png'],
    },
    new Date(),
  );
  await upsertGames(database.sql, 'app', [after]);
  const get = async (path: string) =>
    (await fetch(new URL(path, served.url), { headers: { cookie } })).text();
  const [card = ''] = /<div class="marks">.*?<\/div>/s.exec(await get('/review?lane=changed')) ?? [];
  const words = [...card.matchAll(/<span class="badge [a-z]+">([^<]+)</g)].map(([, word]) => word);
  expect(words).toEqual(['was passed', 'pictures', 'description']);
  expect(await get(`/games/${before.game_id}?lane=changed`)).toContain('>was passed<');
});
