import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { listAudits, upsertGames } from '#db/queries/games.ts';
import { at, ownId, readState } from '#test/db/game-state.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { gamesOf, oneGame } from '#test/support/landed.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(async () => {
  await addApplication(database.sql, 'acme');
  await addApplication(database.sql, 'other');
});

const state = (id: string) => readState(database.sql, id);

describe('upsertGames', () => {
  it('inserts a new game as pending, at revision 1, under the id it was given', async () => {
    const game = fetchedGame({ game_id: ownId() });
    expect(await upsertGames(database.sql, 'acme', [game])).toEqual({
      inserted: [game.application_game_id],
      updated: [],
    });
    const { row, revisions } = await state(game.application_game_id);
    expect(row).toMatchObject({
      ...game,
      application_id: 'acme',
      audit_status: 'pending',
      audit_time: null,
      game_package_url: '',
      revision: 1,
      withdrawn_at: null,
    });
    expect(revisions).toMatchObject([
      { revision: 1, game_name: game.game_name, content_hash: game.content_hash },
    ]);
  });

  it('only refreshes the age of an unchanged game, and says it is neither new nor changed', async () => {
    const id = ownId();
    await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id }, at(0))]);
    const before = await state(id);
    const again = await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id }, at(1))]);
    expect(again).toEqual({ inserted: [], updated: [] });
    expect(await state(id)).toEqual({ ...before, row: { ...before.row, fetched_at: at(1) } });
  });

  it('moves changed content to the next revision and back to pending', async () => {
    const id = ownId();
    await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id }, at(0))]);
    const { game_id } = await oneGame(database.sql, 'acme', id);
    const decision = {
      game_id,
      revision: 1,
      audit_status: 'rejected',
      reason: 'incomplete',
    } as const;
    expect(await decideGame(database.sql, decision)).toBe(true);
    const changed = fetchedGame({ game_id: id, game_info: 'Changed.' }, at(1));
    expect(await upsertGames(database.sql, 'acme', [changed])).toEqual({ inserted: [], updated: [id] });
    const { row, revisions } = await state(id);
    expect(row).toMatchObject({
      game_id,
      revision: 2,
      game_desc: 'Changed.',
      audit_status: 'pending',
      audit_time: null,
    });
    expect(revisions.map((kept) => kept.game_desc)).toEqual(['Changed.', fetchedGame().game_desc]);
    expect(await listAudits(database.sql, game_id)).toMatchObject([
      { revision: 1, audit_status: 'rejected' },
    ]);
  });

  it('counts the return to former content as a change of its own', async () => {
    const id = ownId();
    for (const [minute, game_info] of ['A', 'B', 'A'].entries())
      await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id, game_info }, at(minute))]);
    const { row, revisions } = await state(id);
    expect(row).toMatchObject({ revision: 3, game_desc: 'A' });
    expect(revisions.map((kept) => kept.game_desc)).toEqual(['A', 'B', 'A']);
  });

  it('never overwrites with an older detail, whether it differs or not', async () => {
    const id = ownId();
    await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id, game_info: 'new' }, at(5))]);
    const before = await state(id);
    for (const game_info of ['old', 'new'])
      expect(
        await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id, game_info }, at(4))]),
      ).toEqual({
        inserted: [],
        updated: [],
      });
    expect(await state(id)).toEqual(before);
  });

  it('leaves the same rows behind however often a batch is written again', async () => {
    const batch = [1, 2, 3].map((n) => fetchedGame({ game_id: ownId(), game_info: `n ${n}` }, at(n)));
    const first = await upsertGames(database.sql, 'acme', batch);
    expect(first.inserted).toHaveLength(3);
    const before = await gamesOf(database.sql, 'acme');
    for (let replay = 0; replay < 3; replay += 1)
      expect(await upsertGames(database.sql, 'acme', batch.toReversed())).toEqual({
        inserted: [],
        updated: [],
      });
    expect(await gamesOf(database.sql, 'acme')).toEqual(before);
  });

  it('ends with the latest detail, in any order of writing', async () => {
    const answers = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(answers, async (order) => {
        const id = ownId();
        for (const minute of order)
          await upsertGames(database.sql, 'acme', [
            fetchedGame({ game_id: id, game_info: `v${minute}` }, at(minute)),
          ]);
        const { row, revisions } = await state(id);
        expect(row).toMatchObject({ game_desc: 'v4', fetched_at: at(4), revision: revisions.length });
        expect(revisions[0]).toMatchObject({ game_desc: 'v4', content_hash: row.content_hash });
      }),
      { numRuns: 15 },
    );
  });

  it('keeps games of two applications apart that have the same id', async () => {
    const id = ownId();
    for (const application_id of ['acme', 'other'])
      await upsertGames(database.sql, application_id, [
        fetchedGame({ game_id: id, game_name: application_id }),
      ]);
    const [mine, theirs] = [
      await oneGame(database.sql, 'acme', id),
      await oneGame(database.sql, 'other', id),
    ];
    expect([mine.game_name, theirs.game_name]).toEqual(['acme', 'other']);
    expect(mine.game_id).not.toBe(theirs.game_id);
  });

  it('writes batches that share games at the same time without a deadlock', async () => {
    const ids = Array.from({ length: 60 }, ownId);
    const batchOf = (minute: number) =>
      ids.map((game_id) => fetchedGame({ game_id, game_info: `m${minute}` }, at(minute)));
    const batches = [0, 1, 2, 3, 4, 5].map((minute) =>
      minute % 2 ? batchOf(minute) : batchOf(minute).toReversed(),
    );
    await Promise.all(batches.map((batch) => upsertGames(database.sql, 'acme', batch)));
    const rows = await gamesOf(database.sql, 'acme');
    expect(new Set(ids.map((id) => rows.get(id)?.game_desc))).toEqual(new Set(['m5']));
  });

  it('writes nothing for an empty batch', async () => {
    expect(await upsertGames(database.sql, 'acme', [])).toEqual({ inserted: [], updated: [] });
  });

  it('gives a game that was withdrawn back when its detail lands', async () => {
    const id = ownId();
    await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id }, at(0))]);
    await database.sql`update games set withdrawn_at = now() where application_game_id = ${id}`;
    await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id }, at(1))]);
    expect(await oneGame(database.sql, 'acme', id)).toMatchObject({ withdrawn_at: null, revision: 1 });
  });

  it('keeps the list hash of a game that is pulled by hand, for which none is known', async () => {
    const id = ownId();
    await upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id }, at(0))]);
    await upsertGames(database.sql, 'acme', [{ ...fetchedGame({ game_id: id }, at(1)), list_hash: '' }]);
    expect((await oneGame(database.sql, 'acme', id)).list_hash).toBe(fetchedGame().list_hash);
  });
});
