import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import { findApplication, lockActiveApplication } from '#db/queries/applications.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findPage } from '#db/queries/run-pages.ts';
import { closeUnchanged, findRun, type RunRow, raiseFence } from '#db/queries/runs.ts';
import { finishListing, finishRun } from '#src/ingest/finish-run.ts';
import { comparePage, findUnchanged, type ListCursor, recordAll } from '#src/ingest/record-page.ts';
import { createProcessPace } from '#src/webhooks/pace.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { aDetail, addApplication, anOpenRun, fetchedGame, summaryOf } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { removeApplication, runEndings } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const GAMES = ['g-1', 'g-2', 'g-3', 'g-4'];
const rows = (ids: readonly string[]) => ids.map((game_id) => summaryOf(aDetail({ game_id })));

/** An application whose run has listed these games, then an empty page, and has recorded nothing. */
const listed = async (stored: readonly string[], ids: readonly string[], total = ids.length) => {
  const application = await addApplication(database.sql, `app-${randomUUIDv7()}`);
  const { application_id } = application;
  await database.sql`
    update applications set failed_runs = 2, failing_since = now() where application_id = ${application_id}`;
  const games = stored.map((game_id) => fetchedGame({ game_id }, new Date()));
  await upsertGames(database.sql, application_id, games);
  const run = await anOpenRun(database.sql, application_id);
  const deps = { sql: database.sql, pace: createProcessPace(), pageCap: 10 };
  let cursor: ListCursor = { application, run, previous: undefined, unrecorded: [] };
  for (const list of [rows(ids), []]) cursor = await comparePage(deps, cursor, { total, list });
  return { application_id, cursor };
};

const end = (cursor: ListCursor) => finishListing(runEndings(database.sql), cursor);

/** What a closed run says, without its ids and times. */
const said = (run: RunRow | undefined) => {
  const { run_id: _, run_number: __, application_id: ___, ...rest } = run as RunRow;
  return { ...rest, started_at: 0, progress_at: 0, finished_at: rest.finished_at !== null };
};

it('is closed by one statement, which says what the recording of its pages says', async () => {
  const [quick, paged] = [await listed(GAMES, GAMES), await listed(GAMES, GAMES)];
  expect(findUnchanged(quick.cursor)).toMatchObject({ listed: 4 });
  const closed = await end(quick.cursor);
  expect(await findPage(database.sql, quick.cursor.run.run_id, 1)).toBeUndefined();
  expect(closed).toEqual(await findRun(database.sql, quick.cursor.run.run_id));

  await recordAll(database.sql, paged.cursor);
  const { is_paused: _, ...recorded } = (await finishRun(
    runEndings(database.sql),
    paged.cursor.run,
  )) as RunRow & { is_paused: boolean };
  expect(said(closed)).toEqual(said(recorded));
  for (const { application_id } of [quick, paged])
    expect(await findApplication(database.sql, application_id)).toMatchObject({
      failed_runs: 0,
      failing_since: null,
      last_success_at: expect.any(Date),
    });
});

it('of an application without games is one too', async () => {
  const { cursor } = await listed([], []);
  expect(await end(cursor)).toMatchObject({ outcome: 'succeeded', listed: 0, next_page: 3 });
});

it.for<[what: string, stored: string[], ids: string[], total?: number]>([
  ['a game is new', GAMES.slice(1), GAMES],
  ['a row names a game again', GAMES, [...GAMES, 'g-1']],
  ['total is larger', GAMES, GAMES, 5],
  ['total is smaller', GAMES, GAMES, 3],
])('is recorded page by page when %s', async ([, stored, ids, total]) => {
  const { cursor } = await listed(stored, ids, total);
  expect(findUnchanged(cursor)).toBeUndefined();
});

it('is recorded page by page when a game is on two pages, with another between them', async () => {
  const { application_id, cursor } = await listed(GAMES, []);
  const deps = { sql: database.sql, pace: createProcessPace(), pageCap: 10 };
  const run = await findRun(database.sql, cursor.run.run_id);
  if (run === undefined) throw new Error('the run does not exist');
  let read: ListCursor = { ...cursor, run, previous: undefined, unrecorded: [] };
  for (const ids of [['g-1', 'g-2'], ['g-3'], ['g-1']])
    read = await comparePage(deps, read, { total: 4, list: rows(ids) });
  expect(read.run).toMatchObject({ application_id, listing_end: 'complete', row_count: 4 });
  expect(findUnchanged(read)).toBeUndefined();
});

it('is recorded page by page when a game is missing, which its detail then decides', async () => {
  const { cursor } = await listed([...GAMES, 'gone'], GAMES);
  expect(await end(cursor)).toMatchObject({ outcome: null, next_page: 4 });
  expect(await findPage(database.sql, cursor.run.run_id, 3)).toMatchObject({ open_games: { gone: '' } });
});

it('restores a withdrawn game, and deletes the failure of a game that is gone', async () => {
  const { application_id, cursor } = await listed(GAMES, GAMES);
  await database.sql`
    update games set withdrawn_at = now() where application_id = ${application_id} and application_game_id = 'g-1'`;
  const again = { ...cursor, run: { ...cursor.run, next_page: 1, row_count: 0 }, unrecorded: [] };
  const deps = { sql: database.sql, pace: createProcessPace(), pageCap: 10 };
  let read: ListCursor = { ...again, previous: undefined };
  for (const list of [rows(GAMES), []]) read = await comparePage(deps, read, { total: 4, list });
  const failure = { application_game_id: 'long gone', kind: 'timeout', reasons: [] };
  await recordFailures(database.sql, application_id, 'query_game_detail', [failure]);
  expect(await end(read)).toMatchObject({ outcome: 'succeeded', unchanged: 4 });
  expect(await oneGame(database.sql, application_id, 'g-1')).toMatchObject({ withdrawn_at: null });
  expect(await database.sql`select from ingest_failures where application_id = ${application_id}`).toEqual(
    [],
  );
});

it('writes nothing under a stale fence, twice, or after the application was paused', async () => {
  const { cursor, application_id } = await listed(GAMES, GAMES);
  const unchanged = findUnchanged(cursor);
  if (unchanged === undefined) throw new Error('nothing has changed');
  const close = (run: RunRow) => closeUnchanged(database.sql, run, unchanged);
  await database.sql`update applications set status = 'paused' where application_id = ${application_id}`;
  expect(await close(cursor.run)).toBeUndefined();
  await database.sql`update applications set status = 'active' where application_id = ${application_id}`;
  const raised = await raiseFence(database.sql, { ...cursor.run, next_page: 1 });
  expect(await close(cursor.run)).toBeUndefined();
  expect(await close({ ...cursor.run, ...raised })).toMatchObject({ outcome: 'succeeded' });
  expect(await close({ ...cursor.run, ...raised })).toBeUndefined();
});

it('is closed by one statement beside a suspect run of another application, and not beside one of its own', async () => {
  const [own, other] = [await listed(GAMES, GAMES), await listed(GAMES, GAMES)];
  const suspect = await anOpenRun(
    database.sql,
    (await addApplication(database.sql, 'suspect')).application_id,
  );
  const vanish = async (run_id: string, application_id: string) => {
    await database.sql`update sync_runs set outcome = 'suspect', finished_at = now() where run_id = ${run_id}`;
    await database.sql`
      insert into vanishing_games (run_id, game_id)
      select ${run_id}, game_id from games where application_id = ${application_id} limit 1`;
  };
  await vanish(suspect.run_id, other.application_id);
  const close = ({ cursor }: typeof own) => {
    const unchanged = findUnchanged(cursor);
    return unchanged && closeUnchanged(database.sql, cursor.run, unchanged);
  };
  expect(await close(other)).toMatchObject({ outcome: 'succeeded' });
  await database.sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, finished_at)
    values (${randomUUIDv7()}, ${own.application_id}, 'manual', 'suspect', now())`;
  const [former] = await database.sql<{ run_id: string }[]>`
    select run_id from sync_runs where application_id = ${own.application_id} and outcome = 'suspect'`;
  await vanish(former?.run_id ?? '', own.application_id);
  expect(await close(own)).toBeUndefined();
  await removeApplication(database.sql, own.application_id);
  expect(await database.sql`select run_id from vanishing_games`).toEqual([{ run_id: suspect.run_id }]);
});

it('a run that failed runs have paused is resumed by its end', async () => {
  const { cursor, application_id } = await listed(GAMES, GAMES);
  await database.sql`
    update applications set status = 'paused', pause_reason = 'ten runs failed' where application_id = ${application_id}`;
  expect(await end(cursor)).toMatchObject({ outcome: 'succeeded', unchanged: 4 });
  expect(await findApplication(database.sql, application_id)).toMatchObject({ status: 'active' });
});

it('that names a withdrawn game again waits for the application before the game, as a pull does', async () => {
  const { application_id, cursor } = await listed(GAMES, []);
  await database.sql`
    update games set withdrawn_at = now() where application_id = ${application_id} and application_game_id = 'g-1'`;
  const deps = { sql: database.sql, pace: createProcessPace(), pageCap: 10 };
  const run = (await findRun(database.sql, cursor.run.run_id)) as RunRow;
  let read: ListCursor = { ...cursor, run, previous: undefined, unrecorded: [] };
  for (const list of [rows(GAMES), []]) read = await comparePage(deps, read, { total: 4, list });
  let ended: Promise<RunRow | undefined> | undefined;
  await database.sql.begin(async (pull) => {
    await lockActiveApplication(pull, application_id);
    ended = end(read);
    await untilBlocked(database.sql);
    await upsertGames(pull, application_id, [fetchedGame({ game_id: 'g-1' }, new Date())]);
  });
  expect(await ended).toMatchObject({ outcome: 'succeeded', listed: 4 });
});
