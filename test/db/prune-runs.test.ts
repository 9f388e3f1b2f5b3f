import { beforeEach, expect, it } from 'vitest';
import {
  BEFORE_ALL_RUNS,
  type FinishedRun,
  listRunDayPage,
  pruneRunDays,
  pruneRuns,
} from '#db/queries/run-days.ts';
import { findRun } from '#db/queries/runs.ts';
import type { RunOutcome } from '#src/contract/words.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const DAY_MS = 24 * 60 * 60_000;

beforeEach(async () => {
  await database.sql`truncate applications, sync_runs, run_days cascade`;
});

/** Runs of an application, the first `days` ago and then one an hour; `outcomes` names the oldest ones. */
const addRuns = (application_id: string, count: number, days: number, outcomes: RunOutcome[] = []) =>
  database.sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, listed, inserted, started_at, finished_at)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20))::uuid,
           ${application_id}, 'schedule',
           coalesce((${outcomes as string[]}::text[])[n], 'succeeded'), 100, 1, at, at
    from (select n, now() - ${days} * interval '1 day' + n * interval '1 hour' as at
          from generate_series(1, ${count}) n) as moments`;

const pruneAll = async (limit: number): Promise<number> => {
  let deleted = 0;
  for (let after: FinishedRun | undefined = BEFORE_ALL_RUNS; after !== undefined; ) {
    const batch = await pruneRuns(database.sql, DAY_MS, limit, after);
    deleted += batch.deleted;
    after = batch.last;
  }
  return deleted;
};

const listDays = async (application_id?: string) => {
  const page = { sort: 'day', descending: true, limit: 1_000 } as const;
  return (await listRunDayPage(database.sql, { application_id }, page)).rows;
};

const countRuns = async (application_id: string): Promise<Record<string, number>> => {
  const rows = await database.sql<{ outcome: string; runs: number }[]>`
    select coalesce(outcome, 'open') as outcome, count(*)::int as runs from sync_runs
    where application_id = ${application_id} group by 1`;
  return Object.fromEntries(rows.map(({ outcome, runs }) => [outcome, runs]));
};

it.each([1, 7, 5_000])(
  'keeps the newest twenty runs of each application and the newest of each outcome (%i a statement)',
  async (limit) => {
    for (const id of ['acme', 'slow', 'new']) await addApplication(database.sql, id);
    await addRuns('acme', 60, 30, ['failed', 'failed', 'suspect', 'abandoned']);
    await addRuns('slow', 20, 300);
    await addRuns('new', 30, 0.99);
    const open = await anOpenRun(database.sql, 'acme');

    expect(await pruneAll(limit)).toBe(60 - 19 - 3);
    expect(await countRuns('acme')).toEqual({ succeeded: 19, failed: 1, suspect: 1, abandoned: 1, open: 1 });
    expect(await findRun(database.sql, open.run_id)).toBeDefined();
    expect(await countRuns('slow')).toEqual({ succeeded: 20 });
    expect(await countRuns('new')).toEqual({ succeeded: 30 });
    expect(await pruneAll(limit)).toBe(0);
  },
);

it('adds deleted runs to the sums of their days, so that the days of an application stay the same', async () => {
  await addApplication(database.sql, 'acme');
  await addRuns('acme', 200, 20, ['failed', 'partial', 'failed']);
  const before = await listDays('acme');
  expect(before.reduce((sum, { runs }) => sum + runs, 0)).toBe(200);
  expect(await pruneAll(7)).toBe(200 - 20 - 2);
  expect(await listDays('acme')).toEqual(before);
  await addRuns('acme', 100, 20);
  await pruneAll(5_000);
  const after = await listDays();
  expect(after.reduce((sum, { runs, inserted }) => sum + runs + inserted, 0)).toBe(600);
});

it('keeps a run that still has pages', async () => {
  await addApplication(database.sql, 'acme');
  await addRuns('acme', 40, 20);
  await database.sql`
    insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games)
    select run_id, 1, 0, 0, '{}', '{}' from sync_runs order by run_id limit 3`;
  expect(await pruneAll(5_000)).toBe(40 - 20 - 3);
});

it('deletes the sums of days that ended more than 400 days ago', async () => {
  await addApplication(database.sql, 'acme');
  await addRuns('acme', 40, 402);
  await addRuns('acme', 40, 300);
  await pruneAll(5_000);
  const all = await listDays();
  expect(await pruneRunDays(database.sql, 400, 1)).toBe(1);
  expect(await pruneRunDays(database.sql, 400, 10)).toBeLessThanOrEqual(1);
  expect((await listDays()).length).toBeLessThan(all.length);
  expect(await pruneRunDays(database.sql, 400, 10)).toBe(0);
});
