// A lane's page, as a list and as a gallery, decides on the pictures that it showed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;
let pictures: ReturnType<typeof openPictures>;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
  await addApplication(database.sql, 'acme');
  pictures = openPictures(database.sql, ['acme']);
});
afterAll(() => pictures?.close());

/** Lands a game with an icon and a picture. */
const land = async (name: string) => {
  const [icon, shot] = [`https://cdn.example/${name}-icon.png`, `https://cdn.example/${name}-1.png`];
  const game = fetchedGame({ game_id: name, game_name: name, game_icon: [icon], game_store_pic: [shot] });
  await upsertGames(database.sql, 'acme', [game]);
  return { game_id: game.game_id, icon, shot };
};
const read = async (path: string): Promise<string> =>
  (await fetch(served.url + path, { headers: { cookie } })).text();
/** The fields of a page that name pictures, as its form sends them. */
const seenOn = (page: string) =>
  [...page.matchAll(/name="seen" value="([^"]*)"/g)].map(([, value = '']) => ['seen', value]);
const send = (...form: string[][]) =>
  fetch(`${served.url}/review`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams([['act', 'pass'], ...form].map(([name = '', value = '']) => [name, value])),
    redirect: 'manual',
  });
const statusOf = async (game_id: string) =>
  (await database.sql`select audit_status from games where game_id = ${game_id}`)[0]?.audit_status;

test.each([
  ['the gallery', '/review?view=gallery', 'shot'],
  ['the list', '/review', 'icon'],
] as const)('a picture that was replaced since %s showed it is not passed', async (_what, path, which) => {
  const game = await land(`kite-${which}`);
  const { game_id } = game;
  await pictures.show(game[which], 1);
  const page = await read(path);
  await pictures.replace(game[which], 2);
  const form = [...seenOn(page), ['game', `${game_id}@1`]];
  const asked = await (await send(...form)).text();
  const answer = await send(...seenOn(asked), ['game', `${game_id}@1`], ['unopened', 'decide']);
  expect(answer.headers.getSetCookie().join()).toContain('1%20moved%20meanwhile');
  expect(await statusOf(game_id)).toBe('pending');
  await send(...seenOn(await read(path)), ['game', `${game_id}@1`], ['unopened', 'decide']);
  expect(await statusOf(game_id)).toBe('passed');
});

test('an icon that arrived after the page, and was replaced then, is not passed', async () => {
  const { game_id, icon } = await land('boat');
  const page = await read('/review');
  await pictures.show(icon, 3);
  const late = await read(`/icons?games=${game_id}&polls=1`);
  await pictures.replace(icon, 4);
  await send(...seenOn(page), ...seenOn(late), ['game', `${game_id}@1`], ['unopened', 'decide']);
  expect(await statusOf(game_id)).toBe('pending');
});

test('the form of a gallery with all pictures that its games may have arrives', async () => {
  const { game_id } = await land('tram');
  const ids = Array.from({ length: 101 }, () => `${crypto.randomUUID()}:${'ab'.repeat(32)}`);
  const full = Array.from({ length: 24 }, () => ['seen', `${crypto.randomUUID()} ${ids.join(' ')}`]);
  const text = '夜'.repeat(4_000);
  const answer = await send(...full, ['game', `${game_id}@1`], ['text', text], ['note', text]);
  expect(answer.status).toBe(200);
});
