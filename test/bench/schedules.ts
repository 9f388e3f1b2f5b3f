// Does one worker keep the schedules of many small applications? They are registered, pulled for the first time, and
// watched: node test/bench/schedules.ts [applications] [minutes] [--every-minutes 15]
//
// Each application has 20 games and an address of its own in 127.0.0.0/8, so each run opens a connection, as it does
// where applications have servers of their own. One process answers for all of them.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { onlyRow, onlyValue } from '#db/rows.ts';
import { queryCpKyc, queryGameList, tick } from '#src/ingest/specs.ts';
import { openProducer, registerAt, startApplications, startWorker } from '#test/bench/fleet.ts';
import { cpuOfServers } from '#test/bench/server-cpu.ts';
import { startServers } from '#test/bench/servers.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'every-minutes': { type: 'string', default: '15' } },
});
const applications = Number(positionals[0] ?? 100_000);
const minutes = Number(positionals[1] ?? 30);
const every_ms = Number(values['every-minutes']) * 60_000;
/** Registered at once. */
const BATCH = 500;
const MINUTE_MS = 60_000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (from: number) => Math.round((performance.now() - from) / 1_000);

await using servers = await startServers();
await using database = await servers.createDatabase();
const { sql, databaseUrl } = database;
await using server = await startApplications({
  applications: 1,
  games: 20,
  latencyMs: 0,
  host: '0.0.0.0',
});
await using foundation = openProducer(servers, databaseUrl);
const { producer } = foundation;

/** Of its own in 127.1.0.0 and above. */
const addressOf = (index: number): string =>
  `http://127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}:${server.ports[0]}`;

const began = performance.now();
for (let start = 0; start < applications; start += BATCH) {
  const addresses = Array.from({ length: Math.min(BATCH, applications - start) }, (_, index) =>
    addressOf(start + index),
  );
  await registerAt(servers, sql, addresses, { concurrency: 8, name: `app-${start}` });
}
await sql`update applications set status = 'active', every_ms = ${every_ms}`;
say(`${applications} applications registered in ${seconds(began)} s`);

await using worker = await startWorker(servers, databaseUrl);

/** MiB that the worker has now. */
const rssOf = async (): Promise<number> => {
  const status = await readFile(`/proc/${worker.child.pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024);
};
const countWaiting = async () => {
  const counts = await Promise.all(
    [tick, queryGameList, queryCpKyc].map((spec) => producer.queue(spec).getWaitingCount()),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};
const countPulled = () =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from applications where last_success_at is not null`);
const readCpu = async () => {
  const { postgres, redis } = await cpuOfServers(servers, sql);
  return { worker: (await worker.usage()).cpuUs, postgres, redis };
};

const first = performance.now();
for (let pulled = 0; pulled < applications; pulled = await countPulled()) {
  say(`first pulls: ${pulled} after ${seconds(first)} s, ${await rssOf()} MiB`);
  await sleep(Math.min(MINUTE_MS, every_ms / 10));
}

const from = await onlyValue(sql<{ now: Date }[]>`select now() as now`);
const before = await readCpu();
for (let minute = 1; minute <= minutes; minute += 1) {
  await sleep(MINUTE_MS);
  const { runs, bad } = await onlyRow(sql<{ runs: number; bad: number }[]>`
    select count(*)::int as runs, count(*) filter (where outcome <> 'succeeded')::int as bad
    from sync_runs where finished_at > now() - interval '1 minute'`);
  say(
    `minute ${minute}: ${runs} runs, ${bad} without success, ${await countWaiting()} jobs wait, ${await rssOf()} MiB`,
  );
}
const after = await readCpu();
const watchedMs = minutes * MINUTE_MS;
const shares = (['worker', 'postgres', 'redis'] as const).map(
  (part) => `${part} ${((after[part] - before[part]) / watchedMs / 10).toFixed(0)} %`,
);
say(`CPU of one core: ${shares.join(', ')}`);

const intervals = await onlyRow(sql<{ count: number; median: number; p99: number; most: number }[]>`
  select count(*)::int as count,
         percentile_cont(0.5) within group (order by ms) as median,
         percentile_cont(0.99) within group (order by ms) as p99, max(ms) as most
  from (select extract(epoch from started_at - lag(started_at) over (partition by application_id order by started_at))
                 ::float8 * 1000 as ms
        from sync_runs where started_at >= ${from}) runs
  where ms is not null`);
const late = await onlyValue(sql<{ count: number }[]>`
  select count(*)::int as count from applications a
  where not exists (select from sync_runs r where r.application_id = a.application_id
    and r.started_at > now() - make_interval(secs => ${(1.2 * every_ms) / 1_000}))`);
const ratio = (ms: number) => (ms / every_ms).toFixed(3);
say(
  `${intervals.count} intervals, as ratios to the schedule: median ${ratio(intervals.median)}, ` +
    `p99 ${ratio(intervals.p99)}, longest ${ratio(intervals.most)}; ${late} applications are later than 1.2 now`,
);
