import { describe, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { laneList } from '#src/lists/review.ts';
import { at, lanesOf, useLaneGames } from '#test/review/lane-games.ts';
import { readPage } from '#test/support/lists.ts';

const { database, add, change, decide } = useLaneGames();

describe('A game', () => {
  it('waits in the new lane, and in no lane once it is decided', async () => {
    const game = await add();
    expect(await lanesOf(database.sql, game)).toEqual(['new']);
    await change(game, 1);
    expect(await lanesOf(database.sql, game)).toEqual(['new']);
    await decide(game, 2);
    expect(await lanesOf(database.sql, game)).toEqual([]);
  });

  it('waits in the changed lane when its content changes after a decision', async () => {
    const game = await add();
    await decide(game, 1, 'rejected');
    await change(game, 1);
    await change(game, 2);
    expect(await lanesOf(database.sql, game)).toEqual(['changed']);
    const { rows: games } = await readPage(database.sql, laneList, { lane: 'changed' }, { limit: 500 });
    expect(games.find(({ game_id }) => game_id === game.game_id)).toMatchObject({
      revision: 3,
      decided_revision: 1,
      decided_status: 'rejected',
      application_name: 'Acme Games',
      game_icon: game.game_icon,
    });
    await decide(game, 3);
    expect(await lanesOf(database.sql, game)).toEqual([]);
  });

  it('leaves its lane when it is withdrawn, and enters it again when it comes back', async () => {
    const [fresh, changed] = [await add(), await add()];
    await decide(changed, 1);
    await change(changed, 1);
    const ids = [fresh.game_id, changed.game_id];
    await database.sql`update games set withdrawn_at = now() where game_id = any(${ids}::uuid[])`;
    expect(await lanesOf(database.sql, fresh)).toEqual([]);
    expect(await lanesOf(database.sql, changed)).toEqual([]);
    for (const game of [fresh, changed])
      await upsertGames(database.sql, 'acme', [{ ...game, fetched_at: at(3), content_hash: 'back' }]);
    expect(await lanesOf(database.sql, fresh)).toEqual(['new']);
    expect(await lanesOf(database.sql, changed)).toEqual(['changed']);
    const absences = await database.sql`
      select returned_at is null as is_gone from game_absences where game_id = any(${ids}::uuid[])`;
    expect([...absences]).toEqual([{ is_gone: false }, { is_gone: false }]);
  });

  it('that is written again unchanged writes no row of the review room', async () => {
    const game = await add();
    const before = await database.sql`select xmin::text, * from changed_games order by game_id`;
    await upsertGames(database.sql, 'acme', [{ ...game, fetched_at: at(1) }]);
    await change(game, 2);
    expect([...(await database.sql`select xmin::text, * from changed_games order by game_id`)]).toEqual([
      ...before,
    ]);
  });
});
