// What the overview and the lists of the console read, without HTTP: node test/bench/overview.ts [runs] [directory to
// keep the database in]. A run of each application every 15 minutes, in the last 24 hours.
import type { Database } from '#db/client.ts';
import {
  groupFailures,
  listApplicationItems,
  listRunItems,
  listTrouble,
  readDecisionHours,
  readRunHours,
} from '#db/queries/console.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';

const RUNS_EACH = 96;
const FAILURES = 50_000;

const [text = '1000000', kept] = process.argv.slice(2);
const applications = Math.ceil(Number(text) / RUNS_EACH);

const loadRuns = async (sql: Database): Promise<void> => {
  const [loaded] = await sql<{ runs: number }[]>`
    select reltuples::float8 as runs from pg_class where oid = 'sync_runs'::regclass`;
  if ((loaded?.runs ?? 0) > 0) return;
  await sql`
    insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
      query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate, failing_since)
    select 'application-' || i, 'App ' || i, '', '', '', 1, 1, 1, 1, 1, case when i % 100 = 0 then now() end
    from generate_series(1, ${applications}::int) i`;
  await sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, listed, inserted, unchanged, started_at, finished_at)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20))::uuid,
           'application-' || i, 'schedule',
           case when n % 20 = 0 then 'partial' when n = 96 and i % 1000 = 0 then 'suspect' else 'succeeded' end, 100, 1, 99, at, at
    from generate_series(1, ${RUNS_EACH}::int) n, generate_series(1, ${applications}::int) i,
      lateral (select now() - (${RUNS_EACH}::int - n) * interval '15 minutes' - i * interval '1 millisecond' as at) as moment`;
  await sql`
    insert into ingest_failures (application_id, operation, application_game_id, kind, reasons)
    select 'application-' || 1 + i % 500, 'query_game_detail', 'game-' || i, 'invalid_data', '[]'
    from generate_series(1, ${FAILURES}::int) i`;
  await sql`vacuum analyze`;
};

await withDatabase(async (sql) => {
  await loadRuns(sql);
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
