import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import { findPage } from '#db/queries/run-pages.ts';
import { BEFORE_ALL_PAGES, closeRun, findRun, type PageKey, prunePages } from '#db/queries/runs.ts';
import { aDetail, addApplication, anOpenRun, summaryOf } from '#test/support/factories.ts';
import { recordPage } from '#test/support/record-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** An application that no other test has. */
const ownApplication = () => addApplication(database.sql, `app-${randomUUIDv7()}`);
const DAY_MS = 24 * 60 * 60_000;

/** A run with one page that finished this number of days ago. */
const finished = async (days: number): Promise<string> => {
  const application = await ownApplication();
  const run = await anOpenRun(database.sql, application.application_id);
  await recordPage(
    database.sql,
    { application, run, previous: undefined },
    { total: 1, list: [summaryOf(aDetail())] },
    10,
  );
  await closeRun(database.sql, run, { outcome: 'succeeded', reason: null });
  await database.sql`
    update sync_runs set finished_at = now() - ${days} * interval '1 day' where run_id = ${run.run_id}`;
  return run.run_id;
};

it('deletes the pages of old runs, a bounded number at a time, and never of an open run', async () => {
  const application = await ownApplication();
  const open = await anOpenRun(database.sql, application.application_id);
  const list = [summaryOf(aDetail())];
  await recordPage(database.sql, { application, run: open, previous: undefined }, { total: 1, list }, 10);
  await database.sql`update sync_runs set started_at = '2020-01-01', progress_at = '2020-01-01'
    where run_id = ${open.run_id}`;
  const [fresh, old, ancient] = [await finished(1), await finished(10), await finished(100)];

  // From page to page, in the order in which their runs were opened.
  const batches: { run_id: string; deleted: number }[] = [];
  for (let after: PageKey | undefined = BEFORE_ALL_PAGES; after !== undefined; ) {
    const { deleted, last } = await prunePages(database.sql, 3 * DAY_MS, 1, after);
    if (last !== undefined) batches.push({ run_id: last.run_id, deleted });
    after = last;
  }
  expect(batches).toEqual([
    { run_id: open.run_id, deleted: 0 },
    { run_id: fresh, deleted: 0 },
    { run_id: old, deleted: 1 },
    { run_id: ancient, deleted: 1 },
  ]);
  for (const kept of [open.run_id, fresh]) expect(await findPage(database.sql, kept, 1)).toBeDefined();
  expect(await findPage(database.sql, old, 1)).toBeUndefined();
  expect(await findRun(database.sql, old)).toMatchObject({ listed: 1 });
});

it('deletes the pages of a long run in several calls', async () => {
  const run_id = await finished(10);
  await database.sql`
    insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games)
    select ${run_id}, n, 0, 0, '{}', '{}' from generate_series(2, 12) n`;
  const before = { run_id, page_num: 0 };
  const first = await prunePages(database.sql, 3 * DAY_MS, 5, before);
  expect(first).toEqual({ deleted: 5, last: { run_id, page_num: 5 } });
  expect(await prunePages(database.sql, 3 * DAY_MS, 50, before)).toMatchObject({ deleted: 7 });
});

it('deletes the pages of a run that is gone', async () => {
  const run_id = await finished(0);
  const before = { run_id, page_num: 0 };
  expect(await prunePages(database.sql, 3 * DAY_MS, 50, before)).toMatchObject({ deleted: 0 });
  await database.sql`delete from sync_runs where run_id = ${run_id}`;
  expect(await findPage(database.sql, run_id, 1)).toBeDefined();
  expect(await prunePages(database.sql, 3 * DAY_MS, 50, before)).toMatchObject({ deleted: 1 });
});
