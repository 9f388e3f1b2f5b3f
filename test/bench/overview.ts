// What the overview and the lists of the console read, without HTTP: node test/bench/overview.ts [runs] [directory to
// keep the database in].
import { readDecisionHours } from '#db/queries/decisions.ts';
import { readRunHours } from '#db/queries/run-hours.ts';
import { applicationList } from '#src/lists/applications.ts';
import { failureGroupList, failureList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { runDayList, runList } from '#src/lists/runs.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { loadRuns } from '#test/bench/loaded-runs.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';
import { readPage, sourcesWith } from '#test/support/lists.ts';

const ROUNDS = 30;

const [text = '1000000', kept] = process.argv.slice(2);
await withDatabase(async (sql) => {
  await loadRuns(sql, Number(text));
  const sources = sourcesWith(sql);
  const trouble = { status: 'trouble' } as const;
  const hour = new Date(Date.now() - 60 * 60_000);
  const page = { limit: 50 };
  const pages: Record<string, () => Promise<unknown>> = {
    'runs of 24 hours, by hour': () => readRunHours(sql, 24),
    'runs of the last two hours': () => readRunHours(sql, 2),
    'decisions by hour': () => readDecisionHours(sql),
    'applications in trouble': () => readFirst(applicationList, sources, trouble, 9, 'failing_since'),
    'failures by reason': () => readFirst(failureGroupList, sources, {}, 6),
    'a page of the applications, counted': () => readPage(sql, applicationList, {}, page),
    'applications in trouble, counted': () => readPage(sql, applicationList, trouble, page),
    'applications by last run, counted': () =>
      readPage(sql, applicationList, {}, { ...page, sort: '-last_run_at' }),
    'applications whose last run failed, counted': () =>
      readPage(sql, applicationList, { outcome: 'failed' }, page),
    'a page of the runs, counted': () => readPage(sql, runList, {}, page),
    'runs of one application, counted': () =>
      readPage(sql, runList, { application_id: 'application-50' }, page),
    'runs of the last hour, counted': () => readPage(sql, runList, { since: hour }, page),
    'suspect runs alone, counted': () => readPage(sql, runList, { outcome: 'suspect' }, page),
    'succeeded runs alone, counted': () => readPage(sql, runList, { outcome: 'succeeded' }, page),
    'runs by failed games, counted': () => readPage(sql, runList, {}, { ...page, sort: '-failed' }),
    'runs by day': () => readPage(sql, runDayList, {}, page),
    'failures, counted': () => readPage(sql, failureList, {}, page),
    'failures of one application, counted': () =>
      readPage(sql, failureList, { application_id: 'application-50' }, page),
    'failures by reason, counted': () => readPage(sql, failureGroupList, {}, page),
  };
  say(MEASURE_HEAD);
  for (const [name, read] of Object.entries(pages)) await measure(name, read, ROUNDS);
}, kept);
