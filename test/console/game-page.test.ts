import { afterAll, beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { decideGames } from '#src/review/decide.ts';
import { addTestOperator, signIn, startTestConsole, TESTS, type TestConsole } from '#test/console/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let served: TestConsole;
let cookie: string;

beforeAll(async () => {
  await addApplication(database.sql, 'app');
  await addTestOperator(database.sql, 'olga', 'reviewer');
  served = await startTestConsole(database);
  cookie = await signIn(served.url, 'olga');
});
afterAll(() => served?.stop());

const land = async (changes: NonNullable<Parameters<typeof fetchedGame>[0]>): Promise<string> => {
  await upsertGames(database.sql, 'app', [fetchedGame(changes, new Date())]);
  const [game] = await database.sql<{ game_id: string }[]>`
    select game_id from games where application_game_id = ${changes.game_id ?? ''}`;
  return game?.game_id ?? '';
};
const open = async (path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();

test('a page that shows an earlier revision offers the current one, and no decision', async () => {
  await land({ game_id: 'g', game_name: 'first' });
  await land({ game_id: 'g', game_name: 'second' });
  const game_id = await land({ game_id: 'g', game_name: 'third' });
  const form = `<form method="post" action="/games/${game_id}" `;
  expect(await open(`/games/${game_id}`)).toContain(form);
  expect(await open(`/games/${game_id}?from=1&to=3`)).toContain(form);
  const earlier = await open(`/games/${game_id}?from=1&to=2&lane=new`);
  expect(earlier).not.toContain(form);
  expect(earlier).toContain('A decision is made on revision 3, the current one.');
  expect(earlier).toContain(`href="/games/${game_id}?lane=new">Show revision 3</a>`);
});

test('a video that was removed is marked as removed', async () => {
  const url = 'https://cdn.example/film.mp4';
  const game_id = await land({ game_id: 'video', game_store_video: url });
  await decideGames(database.sql, [{ game_id, revision: 1 }], { audit_status: 'passed' }, TESTS);
  await land({ game_id: 'video', game_store_video: '' });
  const shown = await open(`/games/${game_id}`);
  expect(shown).toMatch(new RegExp(`<del><a [^>]*href="${url}"[^>]*>${url}</a></del>`));
});
