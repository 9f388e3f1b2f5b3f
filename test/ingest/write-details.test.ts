import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { findPage } from '#db/queries/run-pages.ts';
import { raiseFence } from '#db/queries/runs.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import type { DetailCounts } from '#src/contract/words.ts';
import { type DetailBatch, emptyBatch, fetchDetails, type WantedGame } from '#src/ingest/fetch-details.ts';
import { recordPage } from '#src/ingest/record-page.ts';
import { writeBatches, writePageDetails } from '#src/ingest/write-details.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { aDetail, addApplication, anOpenRun, fetchedGame, summaryOf } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const IDS = ['g-1', 'g-2', 'g-3', 'g-4'];
const WANTED = IDS.map((id): WantedGame => [id, '']);
const PACE = { concurrency: 4, rate: 10_000, signal: new AbortController().signal };

/** A run of a new application whose first page waits for four details. */
const aRecordedRun = async () => {
  const application = await addApplication(database.sql, `app-${randomUUID()}`);
  const run = await anOpenRun(database.sql, application.application_id);
  const list = IDS.map((game_id) => summaryOf(aDetail({ game_id })));
  await recordPage(database.sql, { application, run, previous: undefined }, { total: list.length, list }, 10);
  return run;
};

const openGames = async (run_id: string) =>
  Object.keys((await findPage(database.sql, run_id, 1))?.open_games ?? {});

const batchOf = (ids: readonly string[], missing: string[] = []): DetailBatch => ({
  ...emptyBatch(),
  games: ids.map((game_id) => fetchedGame({ game_id })),
  missing,
});

async function* batchesOf(...batches: DetailBatch[]): AsyncGenerator<DetailBatch> {
  yield* batches;
}

/** Detail calls of one application, answered by hand. */
const callsByHand = () => {
  const pending = new Map<string, (answer: ApplicationGameDetail | null | WebhookError) => void>();
  return {
    pending,
    queryGameDetail: (_target: unknown, { game_id }: { game_id: string }) =>
      new Promise<ApplicationGameDetail | null>((resolve, reject) => {
        pending.set(game_id, (answer) => (answer instanceof WebhookError ? reject(answer) : resolve(answer)));
      }),
    answer: (game_id: string, answer: ApplicationGameDetail | null | WebhookError = aDetail({ game_id })) =>
      pending.get(game_id)?.(answer),
  };
};

const fetching = (calls: ReturnType<typeof callsByHand>, batchMs: number, pace = PACE) =>
  fetchDetails(calls, {} as never, WANTED, pace, () => new Date(), batchMs);

it('writes what has come while other calls are in flight, and counts each game once', async () => {
  const run = await aRecordedRun();
  const calls = callsByHand();
  const results = writeBatches(WANTED, fetching(calls, 1), (batch) =>
    writePageDetails(database.sql, run, 1, batch),
  );
  await expect.poll(() => calls.pending.size).toBe(4);
  calls.answer('g-1');
  calls.answer('g-2');
  await expect.poll(() => openGames(run.run_id)).toEqual(['g-3', 'g-4']);
  calls.answer('g-3');
  calls.answer('g-4', null);
  expect(await results).toMatchObject({
    counts: { inserted: 3, missing: 1, unchanged: 0 },
    open: [],
  });
  expect(await findPage(database.sql, run.run_id, 1)).toMatchObject({
    inserted: 3,
    missing: 1,
    answered: 4,
    open_games: {},
  });
});

it('goes on calling while a batch is written, and keeps what comes for the next batch', async () => {
  const calls = callsByHand();
  const pace = { ...PACE, concurrency: 1 };
  const batches = fetching(calls, 1, pace);
  const seen: string[][] = [];
  let called = 0;
  const answerNext = async () => {
    await expect.poll(() => calls.pending.size).toBe(called + 1);
    called += 1;
    calls.answer([...calls.pending.keys()].at(-1) as string);
  };
  const answering = answerNext();
  for await (const { games } of batches) {
    if (games.length === 0) continue;
    seen.push(games.map((game) => game.application_game_id));
    // While the caller is busy with the first batch, every other call is made.
    if (seen.length === 1) for (let n = 0; n < 3; n += 1) await answerNext();
  }
  await answering;
  expect(seen.map((ids) => ids.length)).toEqual([1, 3]);
  expect(seen.flat().sort()).toEqual(IDS);
});

it('writes a page that is fetched within one interval once', async () => {
  const calls = callsByHand();
  const writes: DetailBatch[] = [];
  const results = writeBatches(WANTED, fetching(calls, 60_000), async (batch) => {
    writes.push(batch);
    return { inserted: 4, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };
  });
  await expect.poll(() => calls.pending.size).toBe(4);
  for (const id of IDS) calls.answer(id);
  expect(await results).toMatchObject({ counts: { inserted: 4 }, open: [] });
  expect(writes.map(({ games }) => games.length)).toEqual([4]);
});

it('writes a batch that failed with the next one, and throws when the last write fails', async () => {
  const counts: DetailCounts = { inserted: 1, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };
  const sizes: number[] = [];
  const failing = (failures: number) => async (batch: DetailBatch) => {
    sizes.push(batch.games.length);
    if (sizes.length <= failures) throw new Error(`write ${sizes.length}`);
    return counts;
  };
  const batches = () => batchesOf(batchOf(['g-1']), batchOf(['g-2']), emptyBatch());
  expect(await writeBatches(WANTED, batches(), failing(2))).toMatchObject({ open: ['g-3', 'g-4'] });
  expect(sizes).toEqual([1, 2, 2]);
  sizes.length = 0;
  await expect(writeBatches(WANTED, batches(), failing(3))).rejects.toThrow('write 3');
});

it('begins no further call once the fence is stale, and waits for those in flight', async () => {
  const run = await aRecordedRun();
  await raiseFence(database.sql, { ...run, next_page: 2 });
  const calls = callsByHand();
  let writes = 0;
  const results = writeBatches(WANTED, fetching(calls, 1, { ...PACE, concurrency: 1 }), async (batch) => {
    const counts = await writePageDetails(database.sql, run, 1, batch);
    writes += 1;
    return counts;
  });
  await expect.poll(() => calls.pending.size).toBe(1);
  const [first] = calls.pending.keys();
  calls.answer(first as string);
  await expect.poll(() => [calls.pending.size, writes]).toEqual([2, 1]);
  const [, second] = calls.pending.keys();
  calls.answer(second as string);
  expect(await results).toBeUndefined();
  expect([calls.pending.size, writes]).toEqual([2, 1]);
  expect(await database.sql`select from games where application_id = ${run.application_id}`).toHaveLength(0);
});
