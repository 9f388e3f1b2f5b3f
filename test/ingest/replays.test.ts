import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { Failure } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findPage } from '#db/queries/run-pages.ts';
import { findRun, type RunFence, raiseFence } from '#db/queries/runs.ts';
import { CallError, type CallErrorCode } from '#src/egress/errors.ts';
import type { DetailResult, FailedCall } from '#src/ingest/fetch-details.ts';
import { failRun, finishRun } from '#src/ingest/finish-run.ts';
import { writePageDetails } from '#src/ingest/write-details.ts';
import {
  aDetail,
  addApplication,
  anOpenRun,
  fetchedDetail,
  fetchedGame,
  summaryOf,
} from '#test/support/factories.ts';
import { runEndings } from '#test/support/operate.ts';
import { recordPage } from '#test/support/record-page.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
/** An application that no other test has. */
const ownApplication = () => addApplication(database.sql, `app-${randomUUID()}`);

const GAMES = ['g-1', 'g-2', 'g-3', 'g-4', 'g-5', 'g-6', 'g-7', 'g-8'];
const page = (ids: readonly string[]) => ({
  total: ids.length,
  list: ids.map((game_id) => summaryOf(aDetail({ game_id }))),
});

/** A run of a new application whose first page is recorded, with every detail open. */
const aRecordedRun = async (ids = GAMES) => {
  const application = await ownApplication();
  const run = await anOpenRun(database.sql, application.application_id);
  await recordPage(database.sql, { application, run, previous: undefined }, page(ids), 10);
  return { application, run };
};

/** Its second page is empty: the listing has ended, the details of the first may still come. */
const endListing = async ({ application, run }: Awaited<ReturnType<typeof aRecordedRun>>) => {
  const now = await findRun(database.sql, run.run_id);
  if (now === undefined) throw new Error('the run does not exist');
  const previous = await findPage(database.sql, run.run_id, 1);
  await recordPage(database.sql, { application, run: now, previous }, { total: now.row_count, list: [] }, 10);
};

type Outcome = 'fetched' | 'missing' | 'invalid' | 'not retried' | 'retried';
type Batch = { batch: DetailResult[]; notRetried: Failure[] };

const failure = (application_game_id: string, kind: string): Failure => ({
  application_game_id,
  kind,
  reasons: [{ path: '', code: kind }],
});

const failedCalls = (ids: readonly string[], code: CallErrorCode): FailedCall[] =>
  ids.map((application_game_id) => ({ application_game_id, error: new CallError(code, code) }));

/** What one job fetched of these games. */
const batchOf = (outcomes: ReadonlyMap<string, Outcome>): Batch => {
  const ids = (outcome: Outcome) => [...outcomes].filter(([, own]) => own === outcome).map(([id]) => id);
  return {
    batch: [
      ...ids('fetched').map((id) => ({ application_game_id: id, game: fetchedDetail({ game_id: id }) })),
      ...ids('missing').map((application_game_id) => ({ application_game_id, game: null })),
      ...failedCalls(ids('invalid'), 'invalid_data'),
      ...failedCalls(ids('retried'), 'timeout'),
    ],
    notRetried: ids('not retried').map((id) => failure(id, 'timeout')),
  };
};

const openGames = async (run_id: string) =>
  Object.keys((await findPage(database.sql, run_id, 1))?.open_games ?? {});

const write = (fence: RunFence, { batch, notRetried }: Batch) =>
  writePageDetails(database.sql, fence, 1, batch, notRetried);

/** Everything that a replay could change, without the ids and moments that differ from run to run. */
const outcomeOf = async ({ application_id }: ApplicationRow, run_id: string) => ({
  page: await database.sql`
    select open_games, answered, listed, inserted, updated, unchanged, invalid, failed, missing
    from sync_run_pages where run_id = ${run_id}`,
  games: await database.sql`
    select g.application_game_id, g.revision, g.content_hash, g.fetched_at, g.audit_status,
           (select count(*)::int from game_revisions r where r.game_id = g.game_id) as revisions
    from games g where application_id = ${application_id} order by application_game_id`,
  failures: await database.sql`
    select operation, application_game_id, kind, reasons, count from ingest_failures
    where application_id = ${application_id} order by application_game_id`,
});

describe('writePageDetails', () => {
  it('leaves the same rows and counters however often and in any order batches are replayed', async () => {
    const outcome = fc.constantFrom<Outcome>('fetched', 'missing', 'invalid', 'not retried', 'retried');
    const plan = fc.record({
      /** For each game: which of three batches writes it, and how. */
      games: fc.tuple(...GAMES.map(() => fc.tuple(fc.nat({ max: 2 }), outcome))),
      order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
      replays: fc.array(fc.nat({ max: 2 }), { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ games, order, replays }) => {
        const batches = () =>
          [0, 1, 2].map((own) =>
            batchOf(new Map(GAMES.flatMap((id, at) => (games[at]?.[0] === own ? [[id, games[at][1]]] : [])))),
          );
        const plain = await aRecordedRun();
        for (const batch of batches()) await write(plain.run, batch);

        const replayed = await aRecordedRun();
        const delivered = batches();
        for (const at of [...order, ...replays]) await write(replayed.run, delivered[at] as Batch);
        expect(await outcomeOf(replayed.application, replayed.run.run_id)).toEqual(
          await outcomeOf(plain.application, plain.run.run_id),
        );
      }),
      { numRuns: 25 },
    );
  });

  it('counts each game once when one batch arrives many times at once', async () => {
    const { run } = await aRecordedRun();
    const batch = batchOf(new Map(GAMES.map((id) => [id, 'fetched'])));
    const answers = await Promise.all(Array.from({ length: 5 }, () => write(run, batch)));
    expect(answers.map((answer) => answer?.inserted).sort()).toEqual([0, 0, 0, 0, 8]);
    expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({
      inserted: 8,
      answered: 8,
      open_games: {},
    });
  });

  it('keeps the result that was written first', async () => {
    const { run, application } = await aRecordedRun(['g-1']);
    await write(run, batchOf(new Map([['g-1', 'not retried']])));
    await write(run, batchOf(new Map([['g-1', 'fetched']])));
    expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({ failed: 1, inserted: 0 });
    expect((await outcomeOf(application, run.run_id)).games).toHaveLength(0);
  });

  it('leaves games alone that the page did not name', async () => {
    const { run, application } = await aRecordedRun(['g-1']);
    expect(await write(run, batchOf(new Map([['another', 'fetched']])))).toMatchObject({ inserted: 0 });
    expect(await openGames(run.run_id)).toEqual(['g-1']);
    expect((await outcomeOf(application, run.run_id)).games).toHaveLength(0);
  });

  it('works for games that are named after objects’ own machinery', async () => {
    const ids = ['constructor', 'toString', '__proto__x', 'hasOwnProperty'];
    const { run } = await aRecordedRun(ids);
    expect(await write(run, batchOf(new Map(ids.map((id) => [id, 'fetched']))))).toMatchObject({
      inserted: 4,
    });
    expect(await openGames(run.run_id)).toEqual([]);
  });

  it('lands a game that is named __proto__', async () => {
    const { run } = await aRecordedRun(['__proto__', 'g-2']);
    const batch = batchOf(
      new Map([
        ['__proto__', 'fetched'],
        ['g-2', 'fetched'],
      ]),
    );
    expect(await write(run, batch)).toMatchObject({ inserted: 2 });
    expect(await openGames(run.run_id)).toEqual([]);
  });
});

describe('recordPage', () => {
  it('records a page once, even if a replay lists other games', async () => {
    const { run, application } = await aRecordedRun();
    const before = await everyRow(database.sql);
    await recordPage(database.sql, { application, run, previous: undefined }, page(['x-1', 'x-2']), 10);
    expect(await everyRow(database.sql)).toEqual(before);
    expect(await findRun(database.sql, run.run_id)).toMatchObject({ next_page: 2, total_last: 8 });
  });

  it('moves the run by one page when a page arrives many times at once', async () => {
    const application = await ownApplication();
    const run = await anOpenRun(database.sql, application.application_id);
    await Promise.all(
      [1, 2, 3, 4].map(() =>
        recordPage(database.sql, { application, run, previous: undefined }, page(GAMES), 10),
      ),
    );
    expect(await findRun(database.sql, run.run_id)).toMatchObject({ next_page: 2, total_max: 8 });
  });
});

describe('A job with a stale fence', () => {
  const batch = batchOf(
    new Map<string, Outcome>([
      ['g-1', 'fetched'],
      ['g-2', 'missing'],
      ['g-3', 'invalid'],
      ['g-4', 'not retried'],
    ]),
  );

  it.for<[how: string, lose: (fence: RunFence) => Promise<unknown>]>([
    ['because the fence was raised', (fence) => raiseFence(database.sql, { ...fence, next_page: 2 })],
    ['because the run was closed', (fence) => failRun(runEndings(database.sql), fence, 'down', 'none')],
  ])('writes nothing anywhere: %s', async ([, lose]) => {
    const { run, application } = await aRecordedRun();
    await lose(run);
    const before = await everyRow(database.sql);
    const moved = { ...run, next_page: 2 };
    expect(
      await recordPage(database.sql, { application, run: moved, previous: undefined }, page(['x-1']), 10),
    ).toBeUndefined();
    expect(await write(run, batch)).toBeUndefined();
    expect(await finishRun(runEndings(database.sql), run)).toBeUndefined();
    expect(await failRun(runEndings(database.sql), run, 'late', 'application')).toBeUndefined();
    expect(await everyRow(database.sql)).toEqual(before);
  });

  it('writes nothing either when the fence is raised while it waits for the lock', async () => {
    const { run } = await aRecordedRun();
    const before = await everyRow(database.sql);
    const { late } = await database.sql.begin(async (tx) => {
      await raiseFence(tx, { ...run, next_page: 2 });
      const waiting = write(run, batch);
      await until('the job waits for the run', async () => {
        const blocked = await database.sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return blocked.length > 0;
      });
      return { late: waiting };
    });
    expect(await late).toBeUndefined();
    const after = await everyRow(database.sql);
    expect({ ...after, sync_runs: [] }).toEqual({ ...before, sync_runs: [] });
  });
});

describe('finishRun', () => {
  it('does not end a run whose listing has not ended', async () => {
    const { run } = await aRecordedRun();
    expect(await finishRun(runEndings(database.sql), run)).toBeUndefined();
    expect(await findRun(database.sql, run.run_id)).toMatchObject({ finished_at: null });
  });

  it('counts details that never came as failed, so that the run is not green', async () => {
    const recorded = await aRecordedRun();
    const { run } = recorded;
    await endListing(recorded);
    await write(run, batchOf(new Map([['g-1', 'fetched']])));
    expect(await finishRun(runEndings(database.sql), run)).toMatchObject({
      outcome: 'partial',
      inserted: 1,
      failed: 7,
    });
  });

  it('does not withdraw a game that landed after the run began and that no page named', async () => {
    const recorded = await aRecordedRun(['g-1']);
    const { run, application } = recorded;
    await endListing(recorded);
    await write(run, batchOf(new Map([['g-1', 'fetched']])));
    await upsertGames(database.sql, application.application_id, [fetchedGame({ game_id: 'pulled' })]);
    expect(await finishRun(runEndings(database.sql), run)).toMatchObject({
      outcome: 'succeeded',
      withdrawn: 0,
    });
  });
});
