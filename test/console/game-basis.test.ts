// What the head of a game's page and the line below it say: where it waits, what was decided, and what is different since.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
const OLGA = { actor: 'olga', actor_kind: 'operator' } as const;
let pictures: ReturnType<typeof openPictures>;
let cookie: string;

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', { name: 'Acme & Sons' });
  await addTestOperator(sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
  pictures = openPictures(sql, ['acme']);
});
afterAll(() => pictures?.close());

/** The text of a page, without what only tells how long ago. */
const read = async (path: string): Promise<string> => {
  const answer = await fetch(new URL(path, served.url), { headers: { cookie } });
  return (await answer.text())
    .replaceAll(/<time[^>]*>[^<]*<\/time>/g, 'AGO')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');
};
const land = async (game_id: string, content: { game_name?: string; game_info?: string } = {}) => {
  const picture = `https://cdn.example/${game_id}.png`;
  const game = fetchedGame(
    { game_id, game_icon: [picture.replace('.png', '-icon.png')], game_store_pic: [picture], ...content },
    new Date(),
  );
  await upsertGames(database.sql, 'acme', [game]);
  return { page: `/games/${game.game_id}`, picture, game_id: game.game_id };
};
const decide = (game_id: string, audit_status: 'passed' | 'rejected', revision = 1) =>
  decideGames(database.sql, [{ game_id, revision }], { audit_status, reason: 'rights' }, OLGA);

test('a changed game says who decided when, and the fields that changed since; other revisions say which they are', async () => {
  const { page, game_id } = await land('moves', { game_name: 'Kite' });
  expect(await read(page)).not.toContain('Changed since');
  await decide(game_id, 'passed');
  await land('moves', { game_name: 'Kite 2', game_info: 'Another text.' });
  expect(await read(page)).toContain('Changed since revision 1: name, description. Passed by olga AGO');
  await land('moves', { game_name: 'Kite 3' });
  expect(await read(`${page}?from=2&to=3`)).toContain('What is different in revision 3 from revision 2.');
  expect(await read(`${page}?from=1&to=2`)).toContain('What is different in revision 2 from revision 1.');
});

test('a decided game says above its content who decided, when and what for', async () => {
  const { page, game_id } = await land('decided');
  expect(await read(page)).not.toContain('by olga');
  await decide(game_id, 'passed');
  const [head] = (await read(page)).split('Description');
  expect(head).toContain('Passed by olga AGO');
  await decide(game_id, 'rejected');
  const [rejected] = (await read(page)).split('Description');
  expect(rejected).toContain(
    'Rights to the game, its name or its pictures are in doubt. Rejected by olga AGO',
  );
});

test('an undone decision is not what the game was decided on', async () => {
  const { page, game_id } = await land('undone', { game_name: 'Boat' });
  await decide(game_id, 'passed');
  await land('undone', { game_name: 'Boat 2' });
  await decide(game_id, 'rejected', 2);
  const [audit] = await database.sql<{ audit_id: number }[]>`
    select audit_id from game_audits where game_id = ${game_id} order by audit_id desc limit 1`;
  await undoGameDecisions(database.sql, [audit?.audit_id ?? 0], OLGA);
  const text = await read(page);
  expect(text).toContain('Changed since revision 1: name. Passed by olga AGO');
  expect(text).toContain('was passed');
});

test('a game of which only the bytes of a picture changed says so', async () => {
  const { page, picture, game_id } = await land('bytes');
  await pictures.show(picture, 1);
  await decide(game_id, 'passed');
  await pictures.replace(picture, 2);
  const text = await read(page);
  expect(text).toContain('A picture was replaced since, at the same address. Passed by olga AGO');
  expect(text).not.toContain('What is different');
});

test('the head names the application, the place in the lane and when the game is due, in red once it is overdue', async () => {
  const { page, game_id } = await land('place');
  await insertMessage(database.sql, { game_id, kind: 'answer', written_by: 'acme', text: 'Soon.' });
  const answer = await fetch(new URL(page, served.url), { headers: { cookie } });
  const [head = ''] = /<p class="lead">.*?<\/p>/s.exec(await answer.text()) ?? [];
  expect(head).toContain('<a href="/applications/acme" dir="auto">Acme &amp; Sons</a>');
  expect(head).toMatch(/<span>\d of \d · due <time[^>]*>in 47.h<\/time><\/span>/);
  expect(await read(page)).toContain('Acme &amp; Sons message');
  expect(await read(page)).toContain('Applicationacme');
  await database.sql`update changed_games set since = now() - interval '3 days'`;
  const { text } = await fetch(new URL('/review?lane=changed', served.url), { headers: { cookie } }).then(
    async (lane) => ({ text: await lane.text() }),
  );
  const [, changed = ''] = /href="(\/games\/[^"]+)"/.exec(text) ?? [];
  const overdue = await fetch(new URL(changed.replaceAll('&amp;', '&'), served.url), { headers: { cookie } });
  expect(await overdue.text()).toMatch(/<span class="late">1 of \d · due <time[^>]*>24.h ago/);
});
