import { expect, test } from 'vitest';
import type { RunRow } from '#db/queries/runs.ts';
import { enqueueNextPage } from '#src/ingest/steps.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import type { TestFleet } from '#test/support/fleet.ts';
import {
  aFleet,
  goodDetail,
  idsOf,
  startHostileApplication,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { recordPage } from '#test/support/record-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const row = (game_id: string) => ({ game_id, game_name: 'G', game_icon: '' });

/** A run of `acme` that begins with these columns, when it has ended. */
const endOf = async (fleet: TestFleet, columns: Partial<RunRow>): Promise<RunRow> => {
  const run = await anOpenRun(fleet.sql, 'acme');
  await fleet.sql`update sync_runs set ${fleet.sql(columns)} where run_id = ${run.run_id}`;
  await enqueueNextPage(fleet.producer, run);
  return fleet.ended(run.run_id);
};

test('a run ends when its application has stored as much as it may, and the next one waits for room', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 40);
  const game_info = 'x'.repeat(60_000);
  const { calls } = await startHostileApplication(
    fleet,
    'acme',
    { ...wellBehaved(ids), detail: (id) => ({ data: { ...goodDetail(id), game_info } }) },
    { concurrency: 1 },
  );
  // What the runs of the last 24 hours have left.
  const earlier = await anOpenRun(fleet.sql, 'acme');
  const stored_bytes = STORAGE.bytesPerDay - 500_000;
  await fleet.sql`
    update sync_runs set finished_at = now(), outcome = 'succeeded', stored_bytes = ${stored_bytes}
    where run_id = ${earlier.run_id}`;
  // Written in several batches: no batch contains the games of 40 details.
  const run = await fleet.sync('acme');
  expect(run).toMatchObject({ storable_bytes: 500_000 });
  expect(run.stored_bytes).toBeGreaterThan(500_000);

  const called = { ...calls };
  const next = await fleet.sync('acme');
  expect(next).toMatchObject({ outcome: 'failed', fault: 'application', listed: 0 });
  expect(next.reason).toMatch(/^over_quota: .* 2048 MiB/);
  expect(calls).toEqual(called);

  await fleet.sql`update sync_runs set stored_bytes = 0`;
  expect(await fleet.sync('acme')).toMatchObject({
    outcome: 'succeeded',
    storable_bytes: STORAGE.bytesPerDay,
  });
  // Unchanged games count for nothing.
  expect(await fleet.sync('acme', { full: true })).toMatchObject({ unchanged: 40, stored_bytes: 0 });
});

test('details stop as soon as the run is over its quota', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 60);
  const urls = Array.from({ length: 100 }, (_, index) => `https://cdn.example/${index}/${'x'.repeat(2_000)}`);
  const detail = (id: string) => ({ data: { ...goodDetail(id), game_icon: urls, game_store_pic: urls } });
  await startHostileApplication(fleet, 'acme', { ...wellBehaved(ids), detail }, { concurrency: 1 });
  const run = await endOf(fleet, { storable_bytes: 1 });
  expect(run).toMatchObject({
    outcome: 'failed',
    fault: 'application',
    reason: expect.stringMatching(/^over_quota: /),
  });
  expect(run.inserted).toBeLessThan(ids.length);
});

test('a run that has not ended within 24 hours fails before its next page', async () => {
  const fleet = await aFleet();
  const { calls } = await startHostileApplication(fleet, 'acme', wellBehaved(idsOf('g', 5)));
  const run = await endOf(fleet, { started_at: new Date(Date.now() - 25 * 60 * 60_000) });
  expect(run).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^over_time: .* 24 hours/) });
  expect(calls).toEqual({ list: 0, detail: 0 });
});

test('a listing ends when its ids exceed the budget', async () => {
  const { sql } = database;
  const application = await addApplication(sql, 'wordy');
  const run = { ...(await anOpenRun(sql, 'wordy')), listed_bytes: STORAGE.listedBytes - 1_000 };
  const long = Array.from({ length: 3 }, (_, index) => row(`${'x'.repeat(500)}${index}`));
  const page = await recordPage(
    sql,
    { application, run, previous: undefined },
    { total: 9_999, list: long },
    10,
  );
  expect(page?.end).toBe('page_cap');
});

test('beyond 64 pages, a list without a usable total is compared at powers of two only', async () => {
  const { sql } = database;
  const application = await addApplication(sql, 'endless');
  const run = await anOpenRun(sql, 'endless');
  const list = [row('again'), row('new')];
  const previous = { kind: 'listed' as const, reason: null, row_count: 1, application_game_ids: ['other'] };
  const insertPage = (page_num: number, ids: string[]) => sql`
    insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games)
    values (${run.run_id}, ${page_num}, 1, 0, ${ids}, '{}')`;
  await insertPage(1, ['again']);
  const namedAt = async (next_page: number) => {
    await insertPage(next_page - 1, ['other']);
    await sql`update sync_runs set next_page = ${next_page} where run_id = ${run.run_id}`;
    const cursor = { application, run: { ...run, next_page }, previous };
    return (await recordPage(sql, cursor, { total: 0, list }, 20_000))?.listed;
  };
  expect(await namedAt(64)).toBe(1);
  expect(await namedAt(100)).toBe(2);
  expect(await namedAt(128)).toBe(0);
});

test('pages follow each other at the rate of the application', async () => {
  const fleet = await aFleet();
  const times: number[] = [];
  const ids = idsOf('g', 8);
  const behaviour = wellBehaved(ids);
  const list = (pageNum: number) => {
    times.push(performance.now());
    return { data: { total: ids.length, list: ids.slice(pageNum - 1, pageNum).map(row) } };
  };
  await startHostileApplication(fleet, 'acme', { ...behaviour, list }, { rate: 20 });
  await fleet.sync('acme');
  times.length = 0;
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', unchanged: 8 });
  expect(times.length).toBeGreaterThan(8);
  // 20 a second, less what timers are early.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan((times.length - 1) * 45);
});
