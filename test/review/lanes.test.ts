import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findGame } from '#db/queries/games.ts';
import type { Lane } from '#src/contract/words.ts';
import { cursorAfter, laneList } from '#src/lists/review.ts';
import { findWaitingPlace, summariseLanes } from '#src/review/lanes.ts';
import { type Game, lanesOf, useLaneGames } from '#test/review/lane-games.ts';
import { addApplication } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';

const { database, add, change, decide, readAll } = useLaneGames();

describe('A lane', () => {
  it('does not have the games of an application that is held, and counts and numbers the others', async () => {
    const { sql } = database;
    await addApplication(sql, 'held');
    const [first, held, changed, last] = [await add(), await add('held'), await add('held'), await add()];
    await decide(changed, 1);
    await change(changed, 7, 'held');
    const before = await summariseLanes(sql);
    const placeOf = async (game: Game) => {
      const row = await findGame(sql, game.game_id);
      return row && (await findWaitingPlace(sql, row));
    };
    const place = (await placeOf(last))?.place ?? 0;
    const others = async (lane: Lane) =>
      (await readPage(sql, laneList, { lane, application_id: 'held' }, { limit: 500 })).rows.length;
    const hidden = { new: await others('new'), changed: await others('changed') };
    await sql`insert into application_holds (application_id, reason, held_by) values ('held', 'x', 'kim')`;
    try {
      expect([await lanesOf(sql, held), await lanesOf(sql, changed)]).toEqual([[], []]);
      expect(await lanesOf(sql, first)).toEqual(['new']);
      const after = await summariseLanes(sql);
      expect([after.new.games, after.changed.games]).toEqual([
        before.new.games - hidden.new,
        before.changed.games - hidden.changed,
      ]);
      expect((await summariseLanes(sql, 'held')).new.games).toBe(0);
      expect((await placeOf(last))?.place).toBe(place - hidden.new);
      expect(await readAll('new', 3)).toHaveLength(after.new.games);
      expect(await placeOf(held)).toMatchObject({ is_held: true });
    } finally {
      await sql`delete from application_holds`;
    }
  });

  it('is read page by page in the order of arrival, with decisions between the pages', async () => {
    const games = [];
    for (let n = 0; n < 7; n += 1) games.push(await add());
    // Ids of one millisecond are in no order.
    games.sort((a, b) => (a.game_id < b.game_id ? -1 : 1));
    const ids = games.map(({ game_id }) => game_id);
    const all = await readAll('new', 500);
    expect(all.slice(-7)).toEqual(ids);
    expect(await readAll('new', 3)).toEqual(all);

    const page = await readPage(database.sql, laneList, {}, { limit: all.length - 5 });
    expect(page.rows.at(-1)?.game_id).toBe(ids[1]);
    expect(page.total).toBe(all.length);
    await decide(games[1] as Game, 1);
    const decided = page.rows.at(-1) as (typeof page.rows)[number];
    const cursor = cursorAfter(decided);
    const rest = await readPage(database.sql, laneList, {}, { limit: 100, cursor });
    expect(rest.rows.map(({ game_id }) => game_id)).toEqual(ids.slice(2));
    expect(rest.cursor).toBeUndefined();

    for (const game of games) {
      await decide(game, 1, 'rejected');
      await change(game, 5);
    }
    const changed = await readAll('changed', 500);
    expect(changed.slice(-7)).toEqual(ids);
    expect(await readAll('changed', 2)).toEqual(changed);
  });

  it.for(['new', 'changed'] as const)('%s is filtered by application and by name', async (lane) => {
    const names = ['100% Puzzle', '100 Puzzles', 'under_score', '雪国物語'];
    const games = new Map<string, Game>();
    for (const name of names) {
      const game = await add('other', `${lane} ${name}`);
      games.set(name, game);
      if (lane === 'changed') {
        await decide(game, 1);
        await database.sql`
          update games set audit_status = 'pending', audit_time = null where game_id = ${game.game_id}`;
      }
    }
    const find = (text: string) => readAll(lane, 2, { application_id: 'other', search: text });
    const idOf = (name: string) => games.get(name)?.game_id;
    // Ids of one millisecond are in no order, and the new lane is in the order of ids.
    const inOrder = (...chosen: string[]) =>
      lane === 'new' ? chosen.map(idOf).toSorted() : chosen.map(idOf);
    expect(await find('100% p')).toEqual([idOf('100% Puzzle')]);
    expect(await find('PUZZLE')).toEqual(inOrder('100% Puzzle', '100 Puzzles'));
    expect(await find('r_s')).toEqual([idOf('under_score')]);
    expect(await find('国物')).toEqual([idOf('雪国物語')]);
    expect(await find('\\')).toEqual([]);
    expect(await readAll(lane, 2, { search: '雪国' })).toEqual([idOf('雪国物語')]);
    expect(await readAll(lane, 3, { application_id: 'other' })).toEqual(inOrder(...names));
  });

  it('refuses a cursor that it did not return', async () => {
    for (const lane of ['new', 'changed'] as const)
      for (const cursor of ['', 'x', 'due', 'due,x', 'due,%', 'due,%00', `due,${randomUUID()},x`])
        if (lane === 'changed' || !cursor.endsWith(',x') || cursor.length < 20)
          await expect(readPage(database.sql, laneList, { lane }, { limit: 1, cursor })).rejects.toThrow(
            'Give a cursor as the list gave it.',
          );
    const other = `-due,${randomUUID()}`;
    await expect(readPage(database.sql, laneList, {}, { limit: 1, cursor: other })).rejects.toThrow(
      'The cursor belongs to a list in another order',
    );
  });

  it('has as many games as its summary and its places say, after any events', async () => {
    const acts = fc.array(fc.constantFrom('add', 'change', 'pass', 'withdraw', 'back', 'drift'), {
      minLength: 5,
      maxLength: 25,
    });
    let minute = 10;
    await fc.assert(
      fc.asyncProperty(acts, fc.infiniteStream(fc.nat()), async (steps, picks) => {
        const games: Game[] = [await add()];
        for (const step of steps) {
          minute += 1;
          const game = games[(picks.next().value ?? 0) % games.length] as Game;
          const row = await findGame(database.sql, game.game_id);
          if (step === 'add') games.push(await add());
          if (step === 'change' || step === 'back') await change(game, minute);
          if (step === 'pass') await decide(game, row?.revision ?? 0);
          if (step === 'withdraw')
            await database.sql`update games set withdrawn_at = now() where game_id = ${game.game_id} and withdrawn_at is null`;
          if (step === 'drift')
            await database.sql`
              update games set audit_status = 'pending', audit_time = null where game_id = ${game.game_id}`;
        }
        const [fresh, changed] = [await readAll('new', 7), await readAll('changed', 7)];
        const expected = await database.sql<{ id: string; changed: boolean }[]>`
          select game_id as id, exists (select from game_audits a where a.game_id = g.game_id) as changed
          from games g where audit_status = 'pending' and withdrawn_at is null order by game_id`;
        expect(fresh).toEqual(expected.filter((row) => !row.changed).map(({ id }) => id));
        expect([...changed].sort()).toEqual(expected.filter((row) => row.changed).map(({ id }) => id));
        expect(await summariseLanes(database.sql)).toMatchObject({
          new: { games: fresh.length },
          changed: { games: changed.length },
        });
        for (const [lane, ids] of [
          ['new', fresh],
          ['changed', changed],
        ] as const) {
          const index = Math.floor(ids.length / 2);
          const game = await findGame(database.sql, ids[index] ?? randomUUID());
          if (game !== undefined)
            expect(await findWaitingPlace(database.sql, game)).toMatchObject({
              lane,
              place: index + 1,
              games: ids.length,
            });
        }
      }),
      { numRuns: 12 },
    );
  });
});
