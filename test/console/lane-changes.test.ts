import { beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
});

const signed = (name: string, signature: string): string =>
  `https://bucket.s3.amazonaws.com/${name}.png?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=c` +
  `&X-Amz-Date=20260301T120000Z&X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`;

test('a card of the changed lane says what the game was and what changed, and not what was only signed anew', async () => {
  await addApplication(database.sql, 'app');
  const before = fetchedGame({
    game_id: 'g',
    game_name: 'Kite',
    game_icon: [signed('icon', 'a')],
    game_store_pic: [signed('one', 'a')],
  });
  await upsertGames(database.sql, 'app', [before]);
  await decideGame(database.sql, { game_id: before.game_id, audit_status: 'passed' });
  const after = fetchedGame(
    {
      game_id: 'g',
      game_name: 'Kite',
      game_info: 'Another text.',
      game_icon: [signed('icon', 'b')],
      game_store_pic: [signed('two', 'b')],
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
