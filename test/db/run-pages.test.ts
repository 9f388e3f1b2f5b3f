import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import { clearFailures, recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findPage, selectNamedBefore } from '#db/queries/run-pages.ts';
import { closeRun, findRun } from '#db/queries/runs.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { type NamedPage, recordNamed } from '#test/support/record-page.ts';
import { listFailures } from '#test/support/stored-rows.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const settings = { full: false, startedAt: new Date(), everyMs: 60_000 };
const { list_hash } = fetchedGame();

/** An open run of an application that has these games, fetched just now. */
const aRun = async (...game_ids: string[]) => {
  const { application_id } = await addApplication(database.sql, `app-${randomUUIDv7()}`, {
    detail_max_age_ms: 60_000,
  });
  const games = game_ids.map((game_id) => fetchedGame({ game_id }, new Date()));
  await upsertGames(database.sql, application_id, games);
  return anOpenRun(database.sql, application_id);
};

const aPage = (page_num: number, named: NamedPage['named'], rest: Partial<NamedPage> = {}): NamedPage => ({
  page_num,
  row_count: named.length,
  total: named.length,
  unnamed: 0,
  named,
  listed_bytes: 0,
  listing_end: null,
  ...rest,
});

const valid = (application_game_id: string, hash = list_hash) => ({ application_game_id, list_hash: hash });
const invalid = (application_game_id: string) => ({ application_game_id, list_hash: '' });
const failure = (application_game_id: string) => ({ application_game_id, kind: 'timeout', reasons: [] });

it('wants the details of games that are new, whose entry changed, that are old, or that failed; with full, of all', async () => {
  const run = await aRun('fresh', 'entry', 'old', 'failed');
  const { application_id } = run;
  await database.sql`
    update games set fetched_at = now() - interval '2 minutes'
    where application_id = ${application_id} and application_game_id = 'old'`;
  await recordFailures(database.sql, application_id, 'query_game_detail', [failure('failed')]);
  const named = [valid('fresh'), valid('entry', 'another'), valid('old'), valid('failed'), valid('new')];

  expect(await recordNamed(database.sql, run, aPage(1, named), settings)).toBe(4);
  expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({
    open_games: { entry: 'another', old: list_hash, failed: list_hash, new: list_hash },
    application_game_ids: ['fresh', 'entry', 'old', 'failed', 'new'],
    listed: 5,
    unchanged: 1,
    invalid: 0,
  });
  const all = await recordNamed(database.sql, run, aPage(2, named), { ...settings, full: true });
  expect(all).toBe(5);
  // Games of the same ids that another application has are not these.
  const other = await aRun();
  expect(await recordNamed(database.sql, other, aPage(1, named), settings)).toBe(5);
});

it('wants the details of games whose addresses end before the next run, and of no others', async () => {
  const run = await aRun('none', 'ended', 'soon', 'later');
  const { application_id } = run;
  const ends = { ended: '-1 second', soon: '70 seconds', later: '80 seconds' };
  for (const [id, interval] of Object.entries(ends))
    await database.sql`
      update games set addresses_end_at = now() + ${interval}::interval
      where application_id = ${application_id} and application_game_id = ${id}`;
  const named = ['none', 'ended', 'soon', 'later'].map((id) => valid(id));
  expect(await recordNamed(database.sql, run, aPage(1, named), settings)).toBe(2);
  expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({
    open_games: { ended: list_hash, soon: list_hash },
    unchanged: 2,
  });
});

it('wants nothing of rows that are not valid, and counts them, with those that name no game', async () => {
  const run = await aRun('there');
  const page = aPage(1, [invalid('there'), invalid('unknown')], { unnamed: 3, row_count: 5 });
  expect(await recordNamed(database.sql, run, page, { ...settings, full: true })).toBe(0);
  expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({
    open_games: {},
    listed: 5,
    unchanged: 0,
    invalid: 5,
  });
});

it('restores the games that are named and were withdrawn, and forgets the failures of rows that are valid now', async () => {
  const run = await aRun('named', 'broken', 'unnamed');
  const { application_id } = run;
  await database.sql`update games set withdrawn_at = now() where application_id = ${application_id}`;
  const failures = ['named', 'broken', 'unnamed'].map(failure);
  await recordFailures(database.sql, application_id, 'query_game_list', failures);
  await recordNamed(database.sql, run, aPage(1, [valid('named'), invalid('broken')]), settings);

  const withdrawn = async (id: string) =>
    (await oneGame(database.sql, application_id, id)).withdrawn_at !== null;
  expect([await withdrawn('named'), await withdrawn('broken'), await withdrawn('unnamed')]).toEqual([
    false,
    false,
    true,
  ]);
  const left = await listFailures(database.sql, { application_id, limit: 10 });
  expect(left.map(({ application_game_id }) => application_game_id).sort()).toEqual(['broken', 'unnamed']);
});

it('moves the run on, once for each page', async () => {
  const run = await aRun();
  const record = (page: NamedPage) => recordNamed(database.sql, run, page, settings);
  await record(aPage(1, [valid('a'), valid('b')], { total: 7 }));
  expect(await record(aPage(1, [valid('x')], { total: 1 }))).toBeUndefined();
  await record(aPage(2, [valid('c')], { total: 3, listing_end: 'complete' }));
  await record(aPage(3, []));
  expect(await findPage(database.sql, run.run_id, 3)).toMatchObject({ open_games: {}, listed: 0 });
  expect(await findRun(database.sql, run.run_id)).toMatchObject({
    next_page: 4,
    row_count: 3,
    largest_page: 2,
    total_first: 7,
    total_last: 0,
    total_max: 7,
  });
});

it('writes nothing for a run that was closed or recovered', async () => {
  const run = await aRun('gone');
  const { application_id } = run;
  await database.sql`update games set withdrawn_at = now() where application_id = ${application_id}`;
  const page = aPage(1, [valid('gone'), valid('new')]);
  expect(await recordNamed(database.sql, { ...run, fence: run.fence + 1 }, page, settings)).toBeUndefined();
  await closeRun(database.sql, run, { outcome: 'failed', reason: null });
  expect(await recordNamed(database.sql, run, page, settings)).toBeUndefined();
  expect(await findPage(database.sql, run.run_id, 1)).toBeUndefined();
  expect((await oneGame(database.sql, application_id, 'gone')).withdrawn_at).not.toBeNull();
});

it('tells which games earlier pages of the same run named', async () => {
  const [run, other] = [await aRun(), await aRun()];
  await recordNamed(database.sql, run, aPage(1, [valid('a'), invalid('b')]), settings);
  await recordNamed(database.sql, run, aPage(2, []), settings);
  await recordNamed(database.sql, run, aPage(3, [valid('c')]), settings);
  await recordNamed(database.sql, other, aPage(1, [valid('d')]), settings);
  const namedBefore = async (page_num: number, ...ids: string[]) =>
    [...(await selectNamedBefore(database.sql, run.run_id, page_num, ids))].sort();
  // More often than it takes for Postgres to weigh one plan for all parameters.
  for (let asked = 0; asked < 8; asked += 1)
    expect(await namedBefore(4, 'b', 'c', 'd', 'a')).toEqual(['a', 'b', 'c']);
  expect(await namedBefore(3, 'a', 'c', 'a')).toEqual(['a']);
  expect(await namedBefore(1, 'a')).toEqual([]);
  expect(await namedBefore(4)).toEqual([]);
});

it('reads the games of a page alone, of an application whose statistics are small', async () => {
  const run = await aRun();
  const { application_id } = run;
  const rolledBack = new Error('rolled back');
  const read = database.sql.begin(async (tx) => {
    const addGames = (of: string, games: number) => tx`
      insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
        game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
      select gen_random_uuid(), application_id, 'g-' || i, '', '{}', repeat('x', 300), '', '{}', '', '', now()
      from applications, generate_series(1, ${games}::integer) as i where application_id like ${of}`;
    const addFailures = (of: string) => tx`
      insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
      select application_id, operation, application_game_id, 'timeout', '[]'
      from games, (values ('query_game_list'), ('query_game_detail')) as o(operation) where application_id like ${of}`;
    await tx`
      insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
        query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate)
      select 'small-' || i, '', '', '', '', every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate
      from applications, generate_series(1, 1000) as i where application_id = ${application_id}`;
    await addGames('small-%', 5);
    await addFailures('small-%');
    await tx`analyze games`;
    await tx`analyze ingest_failures`;
    await addGames(application_id, 10_000);
    await addFailures(application_id);
    const rowsRead = async (table: string): Promise<number> => {
      const [row] = await tx<{ rows: number }[]>`
        select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as rows
        from pg_stat_xact_user_tables where relname = ${table}`;
      return row?.rows ?? 0;
    };
    // More often than it takes for Postgres to weigh one plan for all parameters.
    for (let page_num = 1; page_num <= 8; page_num += 1) {
      const before = [await rowsRead('games'), await rowsRead('ingest_failures')] as const;
      const ids = Array.from({ length: 100 }, (_, index) => `g-${page_num * 100 + index}`);
      const rows = ids.map((id) => (page_num % 2 === 0 ? valid(id) : invalid(id)));
      await recordNamed(tx, run, aPage(page_num, rows), settings);
      const games = ids.map((game_id) => fetchedGame({ game_id }, new Date()));
      const { updated } = await upsertGames(tx, application_id, games, page_num % 2 === 0);
      expect(updated).toHaveLength(100);
      await clearFailures(tx, application_id, 'query_game_detail', ids);
      expect((await rowsRead('games')) - before[0]).toBeLessThan(1_000);
      expect((await rowsRead('ingest_failures')) - before[1]).toBeLessThan(1_000);
    }
    throw rolledBack;
  });
  await expect(read).rejects.toBe(rolledBack);
});
