// What finished runs cost, and how long their deletion takes: node test/bench/prune-runs.ts [runs]
// 100 runs an application, one every 15 minutes, the newest a day old: all but the newest twenty are deleted.
import type { Database } from '#db/client.ts';
import { BEFORE_ALL_RUNS, type FinishedRun, pruneRuns } from '#db/queries/run-days.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';

const RUNS = Number(process.argv[2] ?? 1_000_000);
const RUNS_EACH = 100;
const BATCH = 5_000;
const DAY_MS = 24 * 60 * 60_000;

const bytesOf = async (sql: Database, table: string): Promise<number> => {
  await sql.unsafe(`vacuum full analyze ${table}`);
  const [row] = await sql<{ bytes: number }[]>`select pg_total_relation_size(${table})::float8 as bytes`;
  return row?.bytes ?? 0;
};

await withDatabase(async (sql) => {
  await sql`
    insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
      query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate)
    select 'application-' || i, 'App', '', '', '', 1, 1, 1, 1, 1 from generate_series(1, ${RUNS / RUNS_EACH}::int) i`;
  await sql`
    insert into sync_runs (run_id, application_id, trigger, outcome, listed, unchanged, started_at, finished_at)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20))::uuid,
           'application-' || i, 'schedule', case when n % 20 = 0 then 'partial' else 'succeeded' end, 100, 100, at, at
    from generate_series(1, ${RUNS_EACH}::int) n, generate_series(1, ${RUNS / RUNS_EACH}::int) i,
      lateral (select now() - interval '1 day' - (${RUNS_EACH}::int - n) * interval '15 minutes'
        - i * interval '1 millisecond' as at) as moment`;
  const before = await bytesOf(sql, 'sync_runs');
  say(`${RUNS} runs: ${(before / RUNS).toFixed(0)} bytes a run`);

  const times: number[] = [];
  let deleted = 0;
  const start = performance.now();
  for (let after: FinishedRun | undefined = BEFORE_ALL_RUNS; after !== undefined; ) {
    const began = performance.now();
    const batch = await pruneRuns(sql, DAY_MS, BATCH, after);
    times.push(performance.now() - began);
    deleted += batch.deleted;
    after = batch.last;
  }
  const seconds = (performance.now() - start) / 1_000;
  say(`${deleted} deleted in ${seconds.toFixed(1)} s; longest statement ${Math.max(...times).toFixed(0)} ms`);
  const again = performance.now();
  for (let after: FinishedRun | undefined = BEFORE_ALL_RUNS; after !== undefined; )
    after = (await pruneRuns(sql, DAY_MS, BATCH, after)).last;
  say(`again, nothing to delete: ${((performance.now() - again) / 1_000).toFixed(1)} s`);

  const [days] = await sql<{ rows: number }[]>`select count(*)::int as rows from run_days`;
  const rows = days?.rows ?? 0;
  say(`sums: ${rows} rows, ${((await bytesOf(sql, 'run_days')) / rows).toFixed(0)} bytes a row`);
});
