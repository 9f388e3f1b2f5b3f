import type { Database } from '#db/client.ts';

const RUNS_EACH = 96;
const FAILURES = 50_000;

/** Inserts runs, one of each application every 15 minutes in the last 24 hours, unless the kept database has some. */
export const loadRuns = async (sql: Database, runs: number): Promise<void> => {
  const applications = Math.ceil(runs / RUNS_EACH);
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
