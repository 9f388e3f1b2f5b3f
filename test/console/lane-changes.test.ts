import { beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { SIGNED_ADDRESSES } from '#test/support/signed-addresses.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
});

const get = async (path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();

/** The lines of marks of the first card. */
const marksOf = (page: string): string[] => {
  const [card = ''] = /<li class="game-card".*?<\/li>/s.exec(page) ?? [];
  return [...card.matchAll(/<div class="marks">(.*?)<\/div>/gs)].map(([, line = '']) =>
    line
      .replaceAll(/<time[^>]*>[^<]*<\/time>/g, 'AGO')
      .replaceAll(/<[^>]*>/g, '')
      .trim(),
  );
};

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
  expect(marksOf(await get('/review?lane=changed'))).toEqual([
    'due AGO was passed',
    'changed pictures description',
  ]);
  expect(await get(`/games/${before.game_id}?lane=changed`)).toContain('>was passed<');
});

test('of a game whose addresses and texts are the same, a picture was replaced', async () => {
  await addApplication(database.sql, 'bytes');
  const pictures = openPictures(database.sql, ['bytes']);
  const picture = 'https://cdn.example/bytes.png';
  const game = fetchedGame({ game_id: 'g', game_store_pic: [picture] });
  await upsertGames(database.sql, 'bytes', [game]);
  await pictures.show(picture, 1);
  await decideGame(database.sql, { game_id: game.game_id, audit_status: 'passed' });
  await pictures.replace(picture, 2);
  pictures.close();
  expect(marksOf(await get('/review?lane=changed&application=bytes'))).toEqual([
    'due AGO was passed',
    'changed picture replaced',
  ]);
});

test('a gallery says how each description begins, in its language, and how far the page reaches', async () => {
  await addApplication(database.sql, 'many');
  const games = Array.from({ length: 30 }, (_, n) =>
    fetchedGame({ game_id: `${n}`, game_name: `boat ${n}`, game_info: 'سلام <b>'.repeat(100) }),
  );
  await upsertGames(database.sql, 'many', games);
  const path = '/review?lane=new&application=many';
  const first = await get(`${path}&view=gallery`);
  expect(first).toMatch(/<p class="blurb" dir="auto" lang="ar">سلام &lt;b&gt;/);
  expect(/<p class="blurb"[^>]*>([^<]*)</.exec(first)?.[1]?.length).toBeLessThan(1_000);
  expect(first).toContain('>The first 24 of 30<');
  const [, next = ''] = /href="([^"]*)">Next</.exec(first) ?? [];
  const second = await get(next.replaceAll('&amp;', '&'));
  expect(second).toContain('>30 games<');
  expect(second).not.toMatch(/The first \d/);
  const list = await get(path);
  expect(list).not.toContain('class="blurb"');
  expect(list).not.toMatch(/The first \d/);
});
