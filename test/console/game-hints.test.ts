import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { listSimilarNames } from '#db/queries/similar-names.ts';
import { readGameHints } from '#src/review/game-hints.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);

test('the page of a game shows its application’s record, similar names of others first, and what stands out', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'reviewer');
  for (const id of ['mine', 'theirs']) await addApplication(sql, id);
  const land = (application_id: string, names: Record<string, string>, game_info = 'Play.') =>
    upsertGames(
      sql,
      application_id,
      Object.entries(names).map(([game_id, game_name]) => fetchedGame({ game_id, game_name, game_info })),
    );
  await land('theirs', { one: 'Harbor Hollow', far: 'Chess' });
  await land('mine', { passed: 'Kite', rejected: 'Boat <b>', again: 'Harbour Hollow' });
  await land(
    'mine',
    { game: 'Harb\u043Er Hollow', plain: 'Harbor Hollow 2', whole: '\u0421\u04BB\u0435\u0455\u0455' },
    'Write to me@example.com <script>',
  );
  await land('mine', { spoof: '\u0455\u0441\u043E\u0440\u0435' });
  const ids = Object.fromEntries(
    (
      await sql<
        { application_game_id: string; game_id: string }[]
      >`select application_game_id, game_id from games`
    ).map((row) => [row.application_game_id, row.game_id]),
  );
  await decideGame(sql, { game_id: ids.passed ?? '', audit_status: 'passed' });
  await decideGame(sql, { game_id: ids.rejected ?? '', audit_status: 'rejected', reason: 'rights' });
  await sql`update games set withdrawn_at = now() where application_game_id = 'again'`;

  const rows = await sql`select * from games where application_game_id = 'plain'`;
  const hints = await readGameHints(sql, rows[0] as never);
  expect(hints).toMatchObject({
    record: { passed: 1, rejected: 1, withdrawn: 1 },
    rejections: [{ game_name: 'Boat <b>' }],
    contacts: ['me@example.com'],
    mixed: [],
  });
  expect(hints.names[0]).toMatchObject({ application_id: 'theirs', game_name: 'Harbor Hollow' });
  expect(hints.names.map(({ game_name }) => game_name)).not.toContain('Chess');

  const cookie = await signIn(served.url, 'olga');
  const read = async (id = '') => (await fetch(`${served.url}/games/${id}`, { headers: { cookie } })).text();
  const page = await read(ids.plain);
  expect(page).toContain('Another application has a similar name');
  expect(page).toContain('Boat &lt;b&gt;');
  expect(page).not.toContain('<script>Write');
  expect(page).toMatch(/<dt>Developer<\/dt><dd>\s*<span class="badge plain">no verdict</);
  expect(await read(ids.game)).toContain('Name mixes alphabets');
  const whole = await read(ids.whole);
  expect(whole).toContain('Name reads as');
  expect(whole).toContain('Another application has a similar name');
  // Its badge beside the name leads here.
  expect(await read(ids.spoof)).toContain('<section class="card warn" id="hints">');
});

test('a name is similar if it has each word as it is, with a slip, or longer; in another order, and in CJK too', async () => {
  const { sql } = database;
  await addApplication(sql, 'near');
  const land = async (...names: string[]) => {
    const games = names.map((game_name) => fetchedGame({ game_id: game_name, game_name }));
    await upsertGames(sql, 'near', games);
  };
  await land(
    'Velvet Farmers',
    'Velvte Farm',
    'Farm of Velvet',
    'Velvet Fort',
    'Farm',
    '星空農場物語',
    '星空戦争',
  );
  const similar = async (game_name: string) => {
    const game = { game_id: randomUUID(), game_name, application_id: 'far' };
    return (await listSimilarNames(sql, game, 9)).map((each) => each.game_name).sort();
  };
  expect(await similar('Velvet Farm')).toEqual(['Farm of Velvet', 'Velvet Farmers', 'Velvte Farm']);
  expect(await similar('Velvet Farm 2')).toEqual(await similar('Velvet Farm'));
  expect(await similar('星空農場')).toEqual(['星空農場物語']);
  expect(await similar('7')).toEqual([]);
});
