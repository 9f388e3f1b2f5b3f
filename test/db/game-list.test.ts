import { describe, expect, test } from 'vitest';
import { FOUND_MAX } from '#db/queries/game-search.ts';
import { upsertGames } from '#db/queries/games.ts';
import { gameList } from '#src/lists/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { readPage, readPages, sourcesWith } from '#test/support/lists.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const land = (application_id: string, names: Record<string, string>) =>
  upsertGames(
    database.sql,
    application_id,
    Object.entries(names).map(([game_id, game_name]) => fetchedGame({ game_id, game_name })),
  );

describe('the list of games', () => {
  test.each([undefined, 'lantern'])('has a next page only if more games match %s', async (search) => {
    const { sql } = database;
    const application_id = `acme-${search ?? 'all'}`;
    await addApplication(sql, application_id);
    const read = (cursor?: string) =>
      readPage(sql, gameList, { search, application_id }, { limit: 2, cursor });
    await land(application_id, { one: 'Lantern one', two: 'Lantern two' });
    expect(await read()).toMatchObject({ rows: [{}, {}], cursor: undefined });

    await land(application_id, { three: 'Lantern three' });
    const first = await read();
    const second = await read(first.cursor);
    const found = [...first.rows, ...second.rows].map((game) => game.application_game_id);
    expect(found.sort()).toEqual(['one', 'three', 'two']);
    expect(second).toMatchObject({ rows: [{}], cursor: undefined });
  });

  test('has the total of its filters, also while changes are not folded into the counters', async () => {
    const { sql } = database;
    await addApplication(sql, 'counted');
    await land('counted', { a: 'A', b: 'B', c: 'C' });
    const { rows } = await readPage(sql, gameList, { application_id: 'counted', search: 'a' }, { limit: 1 });
    await decideGame(sql, { game_id: rows[0]?.game_id ?? '', audit_status: 'passed' });
    await sql`update games set withdrawn_at = now() where application_id = 'counted' and application_game_id = 'c'`;
    const totals = [undefined, 'pending', 'passed', 'rejected'] as const;
    const read = totals.map((audit_status) =>
      readPage(sql, gameList, { application_id: 'counted', audit_status }, { limit: 1 }),
    );
    expect((await Promise.all(read)).map(({ total }) => total)).toEqual([2, 1, 1, 0]);
    const searched = await readPage(sql, gameList, { application_id: 'counted', search: 'a' }, { limit: 5 });
    expect(searched.total).toBeNull();
  });
});

describe('a search of games', () => {
  const idsOf = async (filter: object, limit = 10) =>
    (await readPages(sourcesWith(database.sql), gameList, filter, { limit })).map(
      ({ application_id, application_game_id }) => `${application_id} ${application_game_id}`,
    );

  test('by an id finds the game of the platform with it, and those of all applications, withdrawn ones too', async () => {
    const { sql } = database;
    for (const application_id of ['first', 'second', 'third']) await addApplication(sql, application_id);
    await land('first', { same: 'Lantern', other: 'Lantern' });
    await land('second', { same: 'Lantern' });
    await sql`update games set withdrawn_at = now() where application_id = 'second'`;
    const [game] = await sql<{ game_id: string }[]>`
      select game_id from games where application_id = 'first' and application_game_id = 'same'`;
    const game_id = game?.game_id ?? '';
    // An application may give a game the platform's id of another one.
    await land('third', { [game_id]: 'Lantern' });
    expect(await idsOf({ search: 'same' })).toEqual(['first same', 'second same']);
    expect(await idsOf({ search: game_id })).toEqual(['first same', `third ${game_id}`]);
    expect((await idsOf({ search: game_id.toUpperCase() }))[0]).toBe('first same');
    expect(await idsOf({ search: game_id.slice(0, 23) })).toContain('first same');
  });

  test('within one application finds no game of another, by id or by name, and none of another status', async () => {
    const { sql } = database;
    for (const application_id of ['mine', 'theirs']) await addApplication(sql, application_id);
    await land('mine', { 'shared-id': 'Kite of mine' });
    await land('theirs', { 'shared-id': 'Kite of theirs', 'their-id': 'Their kite' });
    const [theirs] = await sql<{ game_id: string }[]>`
      select game_id from games where application_id = 'theirs' and application_game_id = 'their-id'`;
    for (const search of ['shared-id', 'kite', 'their-id', theirs?.game_id ?? '', ' '])
      for (const id of await idsOf({ search, application_id: 'mine' })) expect(id).toBe('mine shared-id');
    expect(await idsOf({ search: 'shared-id', audit_status: 'passed' })).toEqual([]);
    expect(await idsOf({ search: 'shared-id', audit_status: 'pending' })).toHaveLength(2);
  });

  test('lists each game once, first those with the id, on pages of any size and in both directions', async () => {
    const { sql } = database;
    const applications = Array.from({ length: 7 }, (_, n) => `many-${n}`);
    for (const [n, application_id] of applications.entries()) {
      await addApplication(sql, application_id);
      await land(application_id, { '2048': n % 2 === 0 ? '2048' : 'Numbers', x: 'Beat 2048', y: 'Chess' });
    }
    const wanted = applications.flatMap((id) => [`${id} 2048`, `${id} x`]).sort();
    for (const limit of [1, 2, 3, 5, 50])
      for (const sort of ['first_seen', '-first_seen']) {
        const rows = await readPages(sourcesWith(sql), gameList, { search: '2048' }, { limit, sort });
        const ids = rows.map((row) => `${row.application_id} ${row.application_game_id}`);
        expect(ids.slice(0, 7).every((id) => id.endsWith(' 2048'))).toBe(true);
        expect(ids.sort()).toEqual(wanted);
      }
  });

  test('finds the best matches only, and goes through all of them page by page', async () => {
    const { sql } = database;
    await addApplication(sql, 'long');
    await land(
      'long',
      Object.fromEntries(Array.from({ length: FOUND_MAX + 5 }, (_, n) => [`h-${n}`, 'Hayfield'])),
    );
    await land('long', { last: 'Hayfield needle' });
    const filter = { search: 'hayfield', application_id: 'long' };
    expect(await idsOf(filter, 30)).toHaveLength(FOUND_MAX);
    expect((await idsOf({ ...filter, search: 'needle hayfield' }))[0]).toBe('long last');
  });

  test('goes on behind a game that was decided meanwhile', async () => {
    const { sql } = database;
    await addApplication(sql, 'decided');
    await land('decided', { a: 'Harbour', b: 'Harbour', c: 'Harbour' });
    const filter = { search: 'harbour', application_id: 'decided', audit_status: 'pending' } as const;
    const first = await readPage(sql, gameList, filter, { limit: 2 });
    for (const { game_id } of first.rows) await decideGame(sql, { game_id, audit_status: 'passed' });
    const second = await readPage(sql, gameList, filter, { limit: 2, cursor: first.cursor });
    expect(second.rows).toHaveLength(1);
    expect(first.rows.map(({ game_id }) => game_id)).not.toContain(second.rows[0]?.game_id);
  });

  test('for white space alone is one for an id in an application, and none elsewhere', async () => {
    const { sql } = database;
    await addApplication(sql, 'blank');
    await land('blank', { ' ': 'Lantern', ' edge ': 'Two words' });
    expect(await idsOf({ search: ' ', application_id: 'blank' })).toEqual(['blank  ']);
    expect(await idsOf({ search: ' edge ' })).toEqual(['blank  edge ']);
    expect((await readPage(sql, gameList, { search: ' ' }, { limit: 1 })).total).toBeGreaterThan(100);
  });
});
