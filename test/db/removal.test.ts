import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Database, Queryable } from '#db/client.ts';
import { lockActiveApplication } from '#db/queries/applications.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { listAudits, upsertGames } from '#db/queries/games.ts';
import { closeRun, findOpenRun, findRun, lockRun, type RunRow } from '#db/queries/runs.ts';
import { countVerdicts } from '#db/queries/verdicts.ts';
import { abandonRun, finishRun } from '#src/ingest/finish-run.ts';
import { writePageDetails } from '#src/ingest/write-details.ts';
import { holdApplication } from '#src/operations/holds.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import {
  aDetail,
  addApplication,
  anOpenRun,
  fetchedDetail,
  fetchedGame,
  KIM,
  summaryOf,
} from '#test/support/factories.ts';
import { gamesOf } from '#test/support/landed.ts';
import {
  decideGame,
  operateAs,
  removeApplication,
  runEndings,
  undoGameDecisions,
} from '#test/support/operate.ts';
import { recordPage } from '#test/support/record-page.ts';
import { listFailures } from '#test/support/stored-rows.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** An application that has these games. */
const ownApplication = async (...game_ids: string[]) => {
  const application = await addApplication(database.sql, `app-${randomUUIDv7()}`);
  await upsertGames(
    database.sql,
    application.application_id,
    game_ids.map((game_id) => fetchedGame({ game_id })),
  );
  return application;
};

/** In one transaction `first`; then `second` on another connection, up to where it waits; then the `rest`. */
const meet = async <Result>(
  first: (tx: Queryable) => Promise<unknown>,
  second: () => Promise<Result>,
  rest: (tx: Queryable) => Promise<unknown>,
): Promise<Result> => {
  let waiting: Promise<Result> | undefined;
  await database.sql.begin(async (tx) => {
    await first(tx);
    waiting = second();
    waiting.catch(() => {});
    await untilBlocked(database.sql);
    await rest(tx);
  });
  return waiting as unknown as Promise<Result>;
};

const shown = async (application_id: string): Promise<string[]> =>
  [...(await gamesOf(database.sql, application_id)).values()]
    .filter((game) => game.withdrawn_at === null)
    .map((game) => game.application_game_id);

const later = (game_id: string) => fetchedDetail({ game_id, game_info: 'Changed.' }, new Date());

it('removing an application withdraws what a running batch writes, and closes its run after the batch', async () => {
  const { application_id } = await ownApplication('known', 'untouched');
  const run = await anOpenRun(database.sql, application_id);
  const removed = await meet(
    (tx) => lockRun(tx, run),
    () => removeApplication(database.sql, application_id),
    (tx) => upsertGames(tx, application_id, [later('known'), later('new')]),
  );
  expect(removed).toMatchObject({ status: 'removed' });
  expect((await gamesOf(database.sql, application_id)).size).toBe(3);
  expect(await shown(application_id)).toEqual([]);
  expect(await findRun(database.sql, run.run_id)).toMatchObject({ outcome: 'abandoned' });
});

it('a run that ends with the removal of its application says what it had done until then', async () => {
  const application = await ownApplication();
  const run = await anOpenRun(database.sql, application.application_id);
  const list = ['g-1', 'g-2', 'g-3'].map((game_id) => summaryOf(aDetail({ game_id })));
  await recordPage(database.sql, { application, run, previous: undefined }, { total: 3, list }, 10);
  await writePageDetails(database.sql, run, 1, [{ application_game_id: 'g-1', game: later('g-1') }]);
  await removeApplication(database.sql, application.application_id);
  expect(await findRun(database.sql, run.run_id)).toMatchObject({
    outcome: 'abandoned',
    reason: 'the application was removed',
    listed: 3,
    inserted: 1,
  });
});

it('removing an application waits for a run that is about to note its end on the application', async () => {
  const { application_id } = await ownApplication('known');
  const run = await anOpenRun(database.sql, application_id);
  const removed = await meet(
    (tx) => lockRun(tx, run),
    () => removeApplication(database.sql, application_id),
    (tx) => closeRun(tx, run, { outcome: 'succeeded', reason: null }, 'success'),
  );
  expect(removed).toMatchObject({ status: 'removed' });
  expect(await shown(application_id)).toEqual([]);
});

it('removing an application withdraws what a running pull writes; a later pull does not find the application', async () => {
  const { application_id } = await ownApplication('known');
  const removed = await meet(
    async (tx) => expect(await lockActiveApplication(tx, application_id)).toBe(true),
    () => removeApplication(database.sql, application_id),
    (tx) => upsertGames(tx, application_id, [later('known'), later('new')]),
  );
  expect(removed).toMatchObject({ status: 'removed' });
  expect(await shown(application_id)).toEqual([]);
  expect(await lockActiveApplication(database.sql, application_id)).toBe(false);
});

it('a pull may write a game that the end of a run is about to withdraw', async () => {
  const application = await ownApplication('gone', 'also gone');
  const { application_id } = application;
  const run = await anOpenRun(database.sql, application_id, { accept_withdrawals: true });
  await recordPage(database.sql, { application, run, previous: undefined }, { total: 0, list: [] }, 10);
  const closed = await meet(
    (tx) => lockActiveApplication(tx, application_id),
    () => finishRun(runEndings(database.sql), run),
    (tx) => upsertGames(tx, application_id, [later('gone')]),
  );
  expect(closed).toMatchObject({ outcome: 'succeeded', withdrawn: 2 });
});

it('a run that opens while its application is removed writes no live game', async () => {
  const application = await ownApplication('known', 'slow');
  const { application_id } = application;
  let opening: Promise<RunRow> | undefined;
  await database.sql.begin(async (tx) => {
    // The removal waits at this game, after it has set the status.
    await tx`select from games where application_id = ${application_id} and application_game_id = 'slow' for update`;
    const removal = removeApplication(database.sql, application_id);
    removal.catch(() => {});
    await untilBlocked(database.sql);
    opening = anOpenRun(database.sql, application_id);
    opening.catch(() => {});
    await untilBlocked(database.sql, 2);
  });
  await expect(opening).rejects.toThrow(`There is no application ${application_id}.`);
  expect(await findOpenRun(database.sql, application_id)).toBeUndefined();
  expect(await shown(application_id)).toEqual([]);
});

it('removing an application closes a run that opened while the removal waited to set the status', async () => {
  const application = await ownApplication('known');
  const { application_id } = application;
  let removal: Promise<unknown> | undefined;
  let run: RunRow | undefined;
  await database.sql.begin(async (tx) => {
    expect(await lockActiveApplication(tx, application_id)).toBe(true);
    removal = removeApplication(database.sql, application_id);
    removal.catch(() => {});
    await untilBlocked(database.sql);
    run = await anOpenRun(tx as unknown as Database, application_id);
  });
  await removal;
  const { run_id } = run as RunRow;
  expect(await findRun(database.sql, run_id)).toMatchObject({
    outcome: 'abandoned',
    reason: 'the application was removed',
  });
  const page = { total: 1, list: [summaryOf(aDetail({ game_id: 'known' }))] };
  const cursor = { application, run: run as RunRow, previous: undefined };
  expect(await recordPage(database.sql, cursor, page, 10)).toBeUndefined();
  expect(await shown(application_id)).toEqual([]);
});

it('a run that is open on a removed application writes nothing', async () => {
  const application = await ownApplication('known');
  const { application_id } = application;
  const run = await anOpenRun(database.sql, application_id);
  const page = { total: 1, list: [summaryOf(aDetail({ game_id: 'new' }))] };
  await recordPage(database.sql, { application, run, previous: undefined }, page, 10);
  await database.sql`update applications set status = 'removed' where application_id = ${application_id}`;
  const now = (await findRun(database.sql, run.run_id)) as RunRow;
  const again = { application, run: now, previous: undefined };
  expect(await recordPage(database.sql, again, page, 10)).toBeUndefined();
  const batch = [{ application_game_id: 'new', game: later('new') }];
  expect(await writePageDetails(database.sql, run, 1, batch)).toBeUndefined();
  expect(await finishRun(runEndings(database.sql), run)).toBeUndefined();
  expect([...(await gamesOf(database.sql, application_id)).keys()]).toEqual(['known']);
  // It can be closed all the same.
  expect(await abandonRun(database.sql, run, 'no progress')).toMatchObject({ outcome: 'abandoned' });
});

it('removing an application forgets its failures alone, and happens once', async () => {
  const [mine, other] = [await ownApplication(), await ownApplication()];
  for (const { application_id } of [mine, other])
    await recordFailures(database.sql, application_id, 'query_game_detail', [
      { application_game_id: 'g-1', kind: 'timeout', reasons: [] },
    ]);
  await anOpenRun(database.sql, mine.application_id);
  const asked = [1, 2, 3].map(() => removeApplication(database.sql, mine.application_id));
  const ended = await Promise.allSettled(asked);
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await findOpenRun(database.sql, mine.application_id)).toBeUndefined();
  expect(await listFailures(database.sql, { application_id: mine.application_id, limit: 5 })).toEqual([]);
  expect(await listFailures(database.sql, { application_id: other.application_id, limit: 5 })).toHaveLength(
    1,
  );
});

it('a removed application that an operator held counts as held no more: it cannot be released', async () => {
  const { sql } = database;
  const { application_id } = await ownApplication('g-1');
  await operateAs(sql, KIM, holdApplication, { application_id, reason: 'rights' });
  expect(await countVerdicts(sql)).toMatchObject({ held: 1 });
  await removeApplication(sql, application_id);
  expect(await countVerdicts(sql)).toMatchObject({ held: 0 });
});

it('a decision on a game of a removed application can be undone: the game is as before, and not live', async () => {
  const { sql } = database;
  const { application_id } = await ownApplication('g');
  const [{ game_id } = { game_id: '' }] = await sql<{ game_id: string }[]>`
    select game_id from games where application_id = ${application_id}`;
  await decideGame(sql, { game_id, audit_status: 'passed' });
  await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'rights' });
  await removeApplication(sql, application_id);
  const [last] = await listAudits(sql, game_id);
  expect(await undoGameDecisions(sql, [last?.audit_id ?? 0], KIM)).toMatchObject([{ result: 'undone' }]);
  expect(
    await sql`select audit_status, withdrawn_at is null as is_live from games where game_id = ${game_id}`,
  ).toEqual([{ audit_status: 'passed', is_live: false }]);
});
