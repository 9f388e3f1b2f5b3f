// What reviewers wrote to the developer of a game, until it is answered.
import { expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

const BADGE = '<span class="badge warn">message</span>';
const LIST = '/portal/games?status=pending';

/** Writes in the thread of a game. */
const write = async (kind: 'note' | 'message' | 'answer', id: string, text: string) => {
  const [game] = await database.sql<{ game_id: string }[]>`
    select game_id from games where application_game_id = ${id}`;
  await insertMessage(database.sql, { game_id: game?.game_id ?? '', kind, written_by: 'kim', text });
  return game?.game_id ?? '';
};

test('a message waits on the overview, in the list and at its game until its developer answers', async () => {
  const { page } = await arrive(database.sql, portal.url, 'lime', [
    { game_id: 'l-1', game_name: 'Kite' },
    { game_id: 'l-2', game_name: 'Lantern' },
  ]);
  await write('note', 'l-1', 'Only operators read this.');
  for (const path of ['/portal', LIST, '/portal/game?id=l-1'])
    expect(await page(path), 'a note is internal').not.toMatch(/A reviewer wrote|badge warn">message/);
  await write('message', 'l-1', 'Whose font is it?');
  await write('note', 'l-1', 'I asked.');
  const asked = await page('/portal');
  expect(asked).toContain('<h2>A reviewer wrote to you</h2>');
  expect(asked).toMatch(/id=l-1#write" dir="auto">Kite<.{1,80}<blockquote dir="auto">Whose font is it\?</s);
  expect(asked).toContain('<a class="button primary" href="/portal/game?id=l-1#write">Answer</a>');
  expect(asked).not.toMatch(/kim|I asked/);
  expect((await page(LIST)).split(BADGE), 'one of two games').toHaveLength(2);
  const game = await page('/portal/game?id=l-1');
  expect(game).toMatch(new RegExp(`<p class="lead">[^\\n]*${BADGE}`));
  expect(game, 'at its head, before its state').toMatch(
    /<h2>A reviewer wrote to you<.{1,80}Whose font is it\?<.*href="#write">Answer<.*<h2>The game is not live/s,
  );
  expect(await page('/portal/game?id=l-2')).not.toContain(BADGE);

  await write('message', 'l-2', 'Which lantern?');
  const two = await page('/portal');
  expect(two).toContain('<h2>2 messages wait for your answer</h2>');
  expect(two, 'the latest first').toMatch(/Which lantern\?.*Whose font/s);
  expect(two).toContain('href="/portal/game?id=l-2#write">Answer the latest</a>');
  await write('answer', 'l-1', 'Ours.');
  expect(await page('/portal')).toContain('<h2>A reviewer wrote to you</h2>');
  await database.sql`update games set withdrawn_at = now() where application_game_id = 'l-2'`;
  expect(await page('/portal'), 'a withdrawn game takes no answer').not.toContain('wrote to you');
});

/** The count at Games in the menu. */
const menuOf = (page: string) =>
  /Games<\/span> <span class="count"><span class="(.*?)<\/span>/.exec(page)?.[1];
/** The tab that is open. */
const tabOf = (page: string) => /aria-current="page">\s*<span>([a-z]+)/.exec(page)?.[1];

test('a message that waits is work: the menu counts its game, once, and the tab of its status opens first', async () => {
  const { sql } = database;
  const names = ['f-waits', 'f-live', 'f-appealed', 'f-rejected'];
  const games = names.map((game_id) => ({ game_id }));
  const { page } = await arrive(sql, portal.url, 'fig', games);
  const ids = await sql<{ game_id: string }[]>`
    select game_id from games where application_id = 'fig' order by array_position(${names}::text[], application_game_id)`;
  const [, live = '', appealed = '', rejected = ''] = ids.map(({ game_id }) => game_id);
  const shown = async () => {
    const games = await page('/portal/games');
    return [menuOf(games), tabOf(games)];
  };
  expect(await shown()).toEqual([undefined, 'pending']);
  await decideGame(sql, { game_id: appealed, audit_status: 'rejected', reason: 'rights' });
  await insertAppeal(sql, { game_id: appealed, text: 'It is ours.' });
  await decideGame(sql, { game_id: live, audit_status: 'passed' });
  expect(await shown(), 'without work, the first that has a game').toEqual([undefined, 'rejected']);
  await write('message', 'f-live', 'Which age is it for?');
  expect(await shown()).toEqual(['warn">1', 'passed']);
  await write('message', 'f-waits', 'Whose font is it?');
  expect(await shown()).toEqual(['warn">2', 'pending']);
  const passed = await page('/portal/games?status=passed');
  expect(passed, 'what the tab counts stands above its games').toMatch(
    /<h2>A reviewer wrote to you<.{1,200}Which age is it for\?<.*Answer<.*<table/s,
  );
  expect(passed).not.toContain('Whose font');
  await decideGame(sql, { game_id: rejected, audit_status: 'rejected', reason: 'rights' });
  await write('message', 'f-rejected', 'Send the licence.');
  expect(await shown(), 'rejected, and with a message').toEqual(['bad">3', 'rejected']);
  await write('answer', 'f-waits', 'Ours.');
  await write('message', 'f-appealed', 'Do you have the licence?');
  await sql`update games set withdrawn_at = now() where game_id in (${live}, ${rejected})`;
  expect(await shown(), 'asked about its appeal').toEqual(['warn">1', 'rejected']);
});

test('an appeal is an answer, and so is what another reviewer decided on it', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'plum', [{ game_id: 'p-1' }]);
  const game_id = await write('message', 'p-1', 'Whose font is it?');
  await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'rights' });
  expect(await page('/portal')).toContain('A reviewer wrote to you');
  expect(await page('/portal/games'), 'its note is on a phone, too').toContain(BADGE);
  await insertAppeal(sql, { game_id, text: 'It is ours.' });
  for (const path of ['/portal', '/portal/games', '/portal/game?id=p-1'])
    expect(await page(path), path).not.toMatch(/A reviewer wrote|badge warn">message/);
});
