// Do fifty dead, trickling and costly applications slow fifty healthy ones? Two fleets take turns, one of healthy
// applications alone, one with fifty hostile runs open all the while, so that both see the same machine:
// node test/bench/hostile.ts [redis://…] [--minutes 10]. Takes about two minutes, or as many as given.
// Prints the largest memory of the worker beside the hostile ones too (Linux).
import { spawn } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { enqueueNextPage, openRun } from '#src/ingest/steps.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { Kind } from '#test/bench/hostile-applications.ts';
import { type Fleet, keys, openQueue } from '#test/bench/hostile-worker.ts';
import { addApplication, webhooksAt } from '#test/support/factories.ts';
import { removeHome } from '#test/support/temporary-postgres.ts';

const TURNS = 8;
const POLL_MS = 20;
/** The hostile are all at their calls by then. */
const SETTLE_MS = 2_000;
const MONTH_MS = 30 * 24 * 60 * 60_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
await using stack = new AsyncDisposableStack();
process.once('SIGINT', () => void stack.disposeAsync().finally(() => process.exit(130)));

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const [redisUrl] = positionals;
const endsAt = performance.now() + Number(values.minutes) * 60_000;

/** A process of the bench: its id and its first line; it ends with us. */
const start = async (file: string, argument: string): Promise<{ pid: number; line: string }> => {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [script, argument], { stdio: ['pipe', 'pipe', 'inherit'] });
  stack.defer(async () => {
    child.stdin.end();
    await once(child, 'exit');
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { pid: child.pid ?? 0, line };
};

const register = async (sql: Database, kind: string, urls: readonly string[]): Promise<string[]> => {
  const ids = urls.map((_, index) => `${kind}-${index}`);
  const settings = { detail_max_age_ms: MONTH_MS, concurrency: 8, rate: 50 };
  for (const [index, application_id] of ids.entries())
    await addApplication(sql, application_id, { ...webhooksAt(urls[index] ?? ''), ...settings }, keys);
  return ids;
};

const startRuns = async (sql: Database, producer: Producer, ids: readonly string[]): Promise<void> => {
  for (const application_id of ids) {
    const run = { run_id: randomUUIDv7(), application_id, trigger: 'manual', full: true } as const;
    const opened = await openRun(sql, { ...run, accept_withdrawals: false });
    if (opened.opened) await enqueueNextPage(producer, opened.run);
  }
};

const openCount = async (sql: Database, kind: string): Promise<number> => {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open from sync_runs
    where finished_at is null and application_id like ${`${kind}-%`}`;
  return row?.open ?? 0;
};

/** A fleet with one worker and the fifty healthy applications. */
const openFleet = async (name: string, adminUrl: string, redisUrl: string | undefined, healthy: string[]) => {
  const admin = openDatabase(adminUrl, { max: 1 });
  await admin`create database ${admin(name)}`;
  await admin.end();
  const databaseUrl = Object.assign(new URL(adminUrl), { pathname: name }).href;
  await migrateDatabase(databaseUrl);
  const sql = openDatabase(databaseUrl, { max: 4 });
  stack.defer(() => sql.end());
  const fleet: Fleet = { databaseUrl, redisUrl, prefix: `{bench-${name}-${process.pid}}` };
  const { backend, producer } = await openQueue(fleet);
  stack.defer(async () => {
    await producer.close();
    await backend.close();
  });
  const { pid } = await start('./hostile-worker.ts', JSON.stringify(fleet));
  const ids = await register(sql, 'healthy', healthy);
  /** How long all healthy applications take for one full run each. */
  const turn = async (): Promise<number> => {
    const from = performance.now();
    await startRuns(sql, producer, ids);
    while ((await openCount(sql, 'healthy')) > 0) await sleep(POLL_MS);
    return performance.now() - from;
  };
  return { sql, producer, pid, turn };
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const home = await mkdtemp(join(tmpdir(), 'catalogue-hostile-bench-'));
stack.defer(() => removeHome(home));
const postgres = await startEmbeddedPostgres({ home });
stack.defer(postgres.stop);
const startApplications = async (kind: Kind): Promise<string[]> =>
  JSON.parse((await start('./hostile-applications.ts', kind)).line);
const healthy = await startApplications('healthy');
const alone = await openFleet('alone', postgres.databaseUrl, redisUrl, healthy);
const beside = await openFleet('beside', postgres.databaseUrl, redisUrl, healthy);
const hostile = await register(beside.sql, 'hostile', await startApplications('hostile'));

await Promise.all([alone.turn(), beside.turn()]);
await startRuns(beside.sql, beside.producer, hostile);
await sleep(SETTLE_MS);
const times = { alone: [] as number[], beside: [] as number[] };
for (let index = 0; index < TURNS || performance.now() < endsAt; index += 1) {
  times.alone.push(await alone.turn());
  // Runs that ended are opened again, so that these applications never back off.
  await startRuns(beside.sql, beside.producer, hostile);
  times.beside.push(await beside.turn());
  const open = await openCount(beside.sql, 'hostile');
  say(
    `alone ${times.alone.at(-1)?.toFixed(0)} ms, beside ${open} open hostile runs ${times.beside.at(-1)?.toFixed(0)} ms`,
  );
}
const [bad] = await beside.sql<{ count: number }[]>`
  select count(*)::int as count from sync_runs
  where application_id like 'healthy-%' and outcome is distinct from 'succeeded'`;
// Neighbours are compared: what else the machine does changes from turn to turn.
const ratio = median(times.beside.map((ms, index) => ms / (times.alone[index] ?? ms)));
const status = await readFile(`/proc/${beside.pid}/status`, 'utf8').catch(() => '');
const peakKib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
say(`largest memory of the worker beside them: ${(peakKib / 1_024).toFixed(0)} MiB`);
const where = redisUrl === undefined ? 'Postgres' : 'Redis';
say(
  `queue in ${where}: alone ${median(times.alone).toFixed(0)} ms, beside ${median(times.beside).toFixed(0)} ms, median of the turns' ratios ${ratio.toFixed(3)}; healthy runs that did not succeed: ${bad?.count}`,
);
