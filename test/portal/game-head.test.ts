// What the head of a game says of who acts next: the identity check, and an appeal that was refused.
import { expect, test } from 'vitest';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { upsertGames } from '#db/queries/games.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

const gameIdOf = async (id: string): Promise<string> => {
  const [game] = await database.sql<{ game_id: string }[]>`
    select game_id from games where application_game_id = ${id}`;
  return game?.game_id ?? '';
};

test('a game that waits says that it cannot be passed before its developer is verified', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'acer', [{ game_id: 'a-1' }, { game_id: 'a-2' }]);
  await decideGame(sql, { game_id: await gameIdOf('a-2'), audit_status: 'passed' });
  const needed = 'It can be passed once your <a href="/portal">identity check</a> is verified.';
  expect(await page('/portal/game?id=a-1')).not.toContain(needed);
  await setDecisionRules(sql, { games_need_verdict: true });
  expect(await page('/portal/game?id=a-1')).toContain(needed);
  expect(await page('/portal/game?id=a-2'), 'it is passed').not.toContain(needed);
  await setDecisionRules(sql, { games_need_verdict: false });
});

test('an appeal that was refused stands at the head of its game with the answer, until the game is rejected anew', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'beech', [{ game_id: 'b-1' }]);
  const game_id = await gameIdOf('b-1');
  const reject = (revision: number) =>
    decideGame(sql, { game_id, revision, audit_status: 'rejected', reason: 'rights' });
  await reject(1);
  await insertAppeal(sql, { game_id, text: 'It is ours.' });
  expect(await page('/portal/game?id=b-1')).toContain('<h3>You have appealed</h3>');
  const answer = 'The register has no such number.';
  await decideAppeal(sql, { game_id, outcome: 'upheld', decided_by: 'rui', answer });
  const refused = await page('/portal/game?id=b-1');
  expect(refused).toMatch(/<p class="lead">[^\n]*<span class="badge bad">appeal refused</);
  expect(refused).toMatch(
    /<h3>Appeal refused<\/h3><blockquote dir="auto">The register has no such number\.</,
  );
  expect(refused).not.toMatch(/You have appealed|rejection upheld|\brui\b/);
  expect(refused).toContain('<button class="button primary">Pull this game now</button>');
  expect(await page('/portal/games'), 'one term').toContain('appeal refused');

  await upsertGames(sql, 'beech', [fetchedGame({ game_id: 'b-1', game_info: 'Another text.' }, new Date())]);
  await reject(2);
  const anew = await page('/portal/game?id=b-1');
  expect(anew).toContain('<h3>Appeal</h3>');
  expect(anew).not.toContain('<h3>Appeal refused</h3>');
});
