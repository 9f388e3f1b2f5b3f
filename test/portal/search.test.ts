import { expect, test } from 'vitest';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('a developer finds games by a part of their name in every status, and rejected ones first', async () => {
  const { call, page } = await arrive(database.sql, portal.url, 'beech', [
    { game_id: 'b-1', game_name: 'Harbour Lights' },
    { game_id: 'b-2', game_name: 'Paper Kite' },
    { game_id: 'b-3', game_name: 'Slow Train' },
  ]);
  await database.sql`
    update games set audit_status = 'rejected', audit_time = now()
    where application_id = 'beech' and application_game_id = 'b-1'`;
  const found = await page('/portal/games?q=harbour');
  expect(found).toContain('Harbour Lights');
  expect(found).not.toContain('Paper Kite');
  for (const id of ['b-2', 'never seen']) {
    const answer = await call(`/portal/games?q=${encodeURIComponent(id)}`);
    expect(answer.headers.get('location')).toBe(`/portal/game?id=${id.replace(' ', '+')}`);
  }
  expect(found).toContain('1 game found');
  expect(found, 'what of it the menu counts').toContain('<span class="badge bad">1 to fix</span>');
  expect((await call('/portal/games?q=harbor')).headers.get('location')).toBe('/portal/game?id=harbor');
  expect(await page('/portal/game?id=harbor'), 'it may be the id of a new game').toMatch(
    /No game found<.*If it is the game_id of a new game<.*Similar games<.*Harbour Lights/s,
  );
  expect(await page('/portal/game?id=paper-boat'), 'one word of two').toMatch(/Similar games<.*Paper Kite/s);
  expect(await page('/portal/game?id=nothing-of-paper'), 'one of three').not.toContain('Similar games');
  await database.sql`
    update games set withdrawn_at = now() where application_id = 'beech' and application_game_id = 'b-2'`;
  expect(await page('/portal/games?q=kite'), 'a developer asks where a game is').toMatch(
    /1 game found.*Paper Kite.*<span class="badge warn">withdrawn</s,
  );
  await database.sql`
    update games set withdrawn_at = null where application_id = 'beech' and application_game_id = 'b-2'`;
  expect(await page('/portal/games')).toContain('Harbour Lights');
  expect(await page('/portal/games')).not.toContain('Paper Kite');
  const game = await page('/portal/game?id=b-2');
  expect(game).toMatch(/It is (the first|number 2) of 2 new games that wait for review/);
  expect(game).toMatch(/The platform reads your list every \d+ \w+, and/);
  expect(game).toContain('detail alone within 24 hours, or');
});
