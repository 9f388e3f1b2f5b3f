import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { findPage } from '#db/queries/run-pages.ts';
import { raiseFence } from '#db/queries/runs.ts';
import { onlyRow } from '#db/rows.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import type { DetailCounts } from '#src/contract/words.ts';
import { CallError } from '#src/egress/errors.ts';
import { type DetailResult, fetchDetails, type WantedGame } from '#src/ingest/fetch-details.ts';
import { writeBatches, writePageDetails } from '#src/ingest/write-details.ts';
import { createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import { aDetail, addApplication, anOpenRun, fetchedDetail, summaryOf } from '#test/support/factories.ts';
import { recordPage } from '#test/support/record-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const IDS = ['g-1', 'g-2', 'g-3', 'g-4'];
const WANTED = IDS.map((id): WantedGame => [id, '']);
const PACE = { concurrency: 4, rate: 10_000, signal: new AbortController().signal, takeTurn: async () => 0 };

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

const batchOf = (ids: readonly string[], missing: string[] = []): DetailResult[] => [
  ...ids.map((id) => ({ application_game_id: id, game: fetchedDetail({ game_id: id }) })),
  ...missing.map((application_game_id) => ({ application_game_id, game: null })),
];

async function* batchesOf(...batches: DetailResult[][]): AsyncGenerator<DetailResult[]> {
  yield* batches;
}

/** Detail calls of one application, answered by hand. */
const callsByHand = () => {
  const pending = new Map<string, (answer: ApplicationGameDetail | null | CallError) => void>();
  return {
    pending,
    queryGameDetail: (_target: unknown, { game_id }: { game_id: string }) =>
      new Promise<ApplicationGameDetail | null>((resolve, reject) => {
        pending.set(game_id, (answer) => (answer instanceof CallError ? reject(answer) : resolve(answer)));
      }),
    answer: (game_id: string, answer: ApplicationGameDetail | null | CallError = aDetail({ game_id })) =>
      pending.get(game_id)?.(answer),
  };
};

const answers = () => createAnswerMemory().track();

const fetching = (calls: ReturnType<typeof callsByHand>, batchMs: number, pace = PACE) =>
  fetchDetails(calls, {} as never, WANTED, pace, answers(), () => new Date(), batchMs);

it('writes what has come while other calls are in flight, and counts each game once', async () => {
  const run = await aRecordedRun();
  const calls = callsByHand();
  const results = writeBatches(WANTED, fetching(calls, 1), answers(), (batch) =>
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
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    seen.push(batch.map((result) => result.application_game_id));
    // While the caller is busy with the first batch, every other call is made.
    if (seen.length === 1) for (let n = 0; n < 3; n += 1) await answerNext();
  }
  await answering;
  expect(seen.map((ids) => ids.length)).toEqual([1, 3]);
  expect(seen.flat().sort()).toEqual(IDS);
});

it('writes a page that is fetched within one interval once', async () => {
  const calls = callsByHand();
  const writes: number[] = [];
  const results = writeBatches(WANTED, fetching(calls, 60_000), answers(), async (batch) => {
    writes.push(batch.length);
    return { inserted: 4, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };
  });
  await expect.poll(() => calls.pending.size).toBe(4);
  for (const id of IDS) calls.answer(id);
  expect(await results).toMatchObject({ counts: { inserted: 4 }, open: [] });
  expect(writes).toEqual([4]);
});

it('writes a batch that failed with the next one, and throws when the last write fails', async () => {
  const counts: DetailCounts = { inserted: 1, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };
  const sizes: number[] = [];
  const failing = (failures: number) => async (batch: readonly DetailResult[]) => {
    sizes.push(batch.length);
    if (sizes.length <= failures) throw new Error(`write ${sizes.length}`);
    return counts;
  };
  const batches = () => batchesOf(batchOf(['g-1']), batchOf(['g-2']), []);
  expect(await writeBatches(WANTED, batches(), answers(), failing(2))).toMatchObject({
    open: ['g-3', 'g-4'],
  });
  expect(sizes).toEqual([1, 2, 2]);
  sizes.length = 0;
  await expect(writeBatches(WANTED, batches(), answers(), failing(3))).rejects.toThrow('write 3');
});

it('begins no further call once the fence is stale, and waits for those in flight', async () => {
  const run = await aRecordedRun();
  await raiseFence(database.sql, { ...run, next_page: 2 });
  const calls = callsByHand();
  let writes = 0;
  const results = writeBatches(
    WANTED,
    fetching(calls, 1, { ...PACE, concurrency: 1 }),
    answers(),
    async (batch) => {
      const counts = await writePageDetails(database.sql, run, 1, batch);
      writes += 1;
      return counts;
    },
  );
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

it('begins no further call while 2 MiB are unwritten, and goes on once they are written', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `g-${index}`);
  const wanted = ids.map((id): WantedGame => [id, '']);
  const calls = callsByHand();
  const memory = answers();
  const batches = fetchDetails(calls, {} as never, wanted, PACE, memory, () => new Date(), 60_000);
  const game_info = '\u{1f3ae}'.repeat(65_536);
  const answerAll = async () => {
    // Calls follow answers in the same turn of the event loop, or they wait.
    for (let pending = 0; pending < calls.pending.size; ) {
      pending = calls.pending.size;
      for (const game_id of calls.pending.keys()) calls.answer(game_id, aDetail({ game_id, game_info }));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const write = Promise.withResolvers<void>();
  const sizes: number[] = [];
  const counts: DetailCounts = { inserted: 1, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };
  const results = writeBatches(wanted, batches, memory, async (batch) => {
    sizes.push(batch.length);
    await write.promise;
    return counts;
  });
  await expect.poll(() => calls.pending.size).toBe(PACE.concurrency);
  await answerAll();
  // Eight details of 256 KiB are 2 MiB; three more calls were in flight.
  const called = calls.pending.size;
  expect(called).toBeLessThanOrEqual(8 + PACE.concurrency);
  write.resolve();
  await expect.poll(async () => answerAll().then(() => calls.pending.size)).toBe(ids.length);
  expect(await results).toMatchObject({ open: [] });
  expect(Math.max(...sizes)).toBeLessThanOrEqual(8 + PACE.concurrency);
});

it('gives up when a full batch cannot be written: its answers must not pile up', async () => {
  const calls = callsByHand();
  const memory = answers();
  const batches = fetchDetails(calls, {} as never, WANTED, PACE, memory, () => new Date(), 60_000);
  const game_store_pic = Array.from({ length: 400 }, () => `https://cdn.example/${'x'.repeat(2_000)}`);
  const results = writeBatches(WANTED, batches, memory, () => Promise.reject(new Error('the disk is full')));
  results.catch(() => {});
  await expect.poll(() => calls.pending.size).toBe(4);
  for (const game_id of IDS) calls.answer(game_id, aDetail({ game_id, game_store_pic }));
  await expect(results).rejects.toThrow('the disk is full');
  expect(memory.isFull()).toBe(false);
});

it('keeps what has come when the next turn cannot be taken, and says why', async () => {
  const calls = callsByHand();
  let turns = 0;
  const takeTurn = async () => {
    turns += 1;
    if (turns > 1) throw new Error('the database is down');
    return 0;
  };
  // One call a second, so two in a turn.
  const pace = { ...PACE, rate: 1, concurrency: 1, takeTurn };
  const written: string[] = [];
  const counts: DetailCounts = { inserted: 1, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 };
  const results = writeBatches(WANTED, fetching(calls, 60_000, pace), answers(), async (batch) => {
    written.push(...batch.map(({ application_game_id }) => application_game_id));
    return counts;
  });
  results.catch(() => {});
  for (let called = 1; called <= 2; called += 1) {
    await expect.poll(() => calls.pending.size).toBe(called);
    calls.answer([...calls.pending.keys()].at(-1) as string);
  }
  await expect(results).rejects.toThrow('the database is down');
  expect(written).toEqual([...calls.pending.keys()]);
});

it('writes the row of the run for a batch that stores nothing only to show progress', async () => {
  const { run_id, fence } = await aRecordedRun();
  const readRun = async () =>
    onlyRow(database.sql<{ ctid: string; is_recent: boolean }[]>`
      select ctid::text, progress_at > now() - interval '5 seconds' as is_recent from sync_runs where run_id = ${run_id}`);
  const before = await readRun();
  await writePageDetails(database.sql, { run_id, fence }, 1, batchOf([], ['g-1']));
  expect((await readRun()).ctid).toBe(before.ctid);
  await writePageDetails(database.sql, { run_id, fence }, 1, batchOf(['g-2']));
  expect((await readRun()).ctid).not.toBe(before.ctid);
  await database.sql`update sync_runs set progress_at = now() - interval '1 minute' where run_id = ${run_id}`;
  await writePageDetails(database.sql, { run_id, fence }, 1, batchOf([], ['g-3']));
  expect(await readRun()).toMatchObject({ is_recent: true });
});
