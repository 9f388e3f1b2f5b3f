// What the overview and the lists of the console read, without HTTP: node test/bench/overview.ts [runs] [directory to
// keep the database in].
import {
  groupFailures,
  listApplicationItems,
  listRunItems,
  listTrouble,
  readDecisionHours,
  readRunHours,
} from '#db/queries/console.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { loadRuns } from '#test/bench/loaded-runs.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';

const [text = '1000000', kept] = process.argv.slice(2);
await withDatabase(async (sql) => {
  await loadRuns(sql, Number(text));
  say(MEASURE_HEAD);
  await measure('runs of 24 hours, by hour', () => readRunHours(sql, 24), 30);
  await measure('runs of the last two hours', () => readRunHours(sql, 2), 30);
  await measure('decisions by hour', () => readDecisionHours(sql), 30);
  await measure('applications in trouble', () => listTrouble(sql, 9), 30);
  await measure('failures by reason', () => groupFailures(sql, { limit: 6 }), 30);
  await measure('a page of the applications', () => listApplicationItems(sql, { limit: 50 }), 30);
  await measure('a page of the runs', () => listRunItems(sql, { limit: 50 }), 30);
  await measure('suspect runs alone', () => listRunItems(sql, { outcome: 'suspect', limit: 50 }), 30);
}, kept);
