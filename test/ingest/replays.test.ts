import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { findPage } from '#db/queries/run-pages.ts';
import { findRun } from '#db/queries/runs.ts';
import { finishRun } from '#src/ingest/finish-run.ts';
import {
  type Batch,
  batchOf,
  GAMES,
  type Outcome,
  page,
  useRecordedRuns,
} from '#test/ingest/recorded-runs.ts';
import { anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { runEndings } from '#test/support/operate.ts';
import { recordPage } from '#test/support/record-page.ts';
import { everyRow } from '#test/support/stored.ts';

const { database, ownApplication, aRecordedRun, endListing, openGames, write, outcomeOf } = useRecordedRuns();

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
    const ids = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
    const { run } = await aRecordedRun(ids);
    expect(await write(run, batchOf(new Map(ids.map((id) => [id, 'fetched']))))).toMatchObject({
      inserted: 4,
    });
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
