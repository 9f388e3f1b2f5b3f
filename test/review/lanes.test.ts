import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { findGame, upsertGames } from '#db/queries/games.ts';
import type { Lane } from '#src/contract/words.ts';
import { cursorAfter, laneList } from '#src/lists/review.ts';
import { findWaitingPlace, summariseLanes } from '#src/review/lanes.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { readPage, readPages, sourcesWith } from '#test/support/lists.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(async () => {
  await addApplication(database.sql, 'acme');
  await addApplication(database.sql, 'other', { name: 'Other Games' });
});

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));

/** Writes a new game. */
const add = async (application_id = 'acme', game_name = 'Lantern') => {
  const game = fetchedGame({ game_id: randomUUID(), game_name }, at(0));
  await upsertGames(database.sql, application_id, [game]);
  return game;
};
type Game = Awaited<ReturnType<typeof add>>;

const change = (game: Game, minute: number, application_id = 'acme') =>
  upsertGames(database.sql, application_id, [
    fetchedGame({ game_id: game.application_game_id, game_info: `minute ${minute}` }, at(minute)),
  ]);

const decide = (game: Game, revision: number, audit_status: 'passed' | 'rejected' = 'passed') =>
  decideGame(database.sql, {
    game_id: game.game_id,
    revision,
    audit_status,
    ...(audit_status === 'rejected' && { reason: 'other' }),
  });

const lanesOf = async (sql: Database, game: Game): Promise<Lane[]> => {
  const lanes: Lane[] = [];
  for (const lane of ['new', 'changed'] as const) {
    const { rows: games } = await readPage(sql, laneList, { lane }, { limit: 500 });
    if (games.some(({ game_id }) => game_id === game.game_id)) lanes.push(lane);
  }
  return lanes;
};

const readAll = async (lane: Lane, limit: number, filter: object = {}): Promise<string[]> => {
  const rows = await readPages(sourcesWith(database.sql), laneList, { ...filter, lane }, { limit });
  return rows.map(({ game_id }) => game_id);
};

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
