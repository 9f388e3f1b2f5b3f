// Does an application with a million games delay one with ten? One worker; the small one's first run alone, beside
// one large application and beside ten of them, turn about:
// node test/bench/fairness.ts [--turns 20] [--queue redis|postgres]. Takes about three minutes.
//
// The runs of the large ones stay open all the while. "Alone" their servers are stopped (SIGSTOP): the calls in
// flight to them wait, as they do for a slow application, and nothing is left to be done for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Database } from '#db/client.ts';
import type { Foundation } from '#src/processes/foundation.ts';
import {
  type Applications,
  openProducer,
  register,
  startApplications,
  startRun,
  startWorker,
} from '#test/bench/fleet.ts';
import { machine, median, type Row, tableOf } from '#test/bench/report.ts';
import { type Servers, startServers } from '#test/bench/servers.ts';

const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', default: '20' },
    queue: { type: 'string', default: 'redis' },
  },
});
const turns = Number(options.turns);
if (!(turns > 0) || !/^(redis|postgres)$/.test(options.queue))
  throw new Error('usage: --turns 20 --queue redis|postgres');

const LARGE = 1_000_000;
const SMALL = 10;
const CONCURRENCY = 8;
/** Large applications in each process of servers: none of them answers, then the first, then both. */
const LARGE_SERVERS = [1, 9];
const BESIDE = [0, 1, 10];
/** A worker runs faster after its first runs. */
const WARM_TURNS = 3;
/** The worker has answered by then what the stopped servers had sent before. */
const QUIET_MS = 200;
/** A large application is at its details again after this many calls. */
const CALLS_UNDER_WAY = 50;
const POLL_MS = 5;
/** Longer than any run of ten games. */
const RUN_MAX_MS = 60_000;

type Circumstances = { section: string; latencyMs: number; rate: number; mark?: { max: number } };
const CIRCUMSTANCES: Circumstances[] = [
  // As applications are registered, and answer.
  { section: '100 ms a call, 50 calls/s each', latencyMs: 100, rate: 50, mark: { max: 1.1 } },
  // The worker's core is full: the servers share it.
  { section: 'no latency, no pace', latencyMs: 0, rate: 100_000 },
];

/** Let the first so many servers answer, the others stand still. */
const letAnswer = async (servers: readonly Applications[], count: number): Promise<void> => {
  for (const [index, { child }] of servers.entries()) child.kill(index < count ? 'SIGCONT' : 'SIGSTOP');
  await sleep(QUIET_MS);
  for (const { calls, ports } of servers.slice(0, count)) {
    const { query_game_detail: from } = await calls();
    const wanted = from + CALLS_UNDER_WAY * ports.length;
    while ((await calls()).query_game_detail < wanted) await sleep(POLL_MS);
  }
};

/** From the opening of the run to its end, in milliseconds of Postgres's clock. */
const runMs = async (sql: Database, foundation: Foundation, application_id: string): Promise<number> => {
  const run_id = await startRun(foundation, application_id);
  const deadline = Date.now() + RUN_MAX_MS;
  while (Date.now() < deadline) {
    const [run] = await sql<{ outcome: string; inserted: number; ms: number }[]>`
      select outcome, inserted, extract(epoch from finished_at - started_at)::float8 * 1000 as ms
      from sync_runs where run_id = ${run_id} and finished_at is not null`;
    if (run !== undefined) {
      if (run.outcome !== 'succeeded' || run.inserted !== SMALL)
        throw new Error(`the small run ended as ${run.outcome} with ${run.inserted} games`);
      return run.ms;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`a run of ${SMALL} games did not end within ${RUN_MAX_MS / 1_000} s`);
};

const percentile95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

const measure = async (
  servers: Servers,
  { section, latencyMs, rate, mark }: Circumstances,
): Promise<Row[]> => {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl, sql } = stack.use(await servers.createDatabase());
  const ground = { ...servers, redisUrl: options.queue === 'redis' ? servers.redisUrl : undefined };
  const foundation = stack.use(openProducer(ground, databaseUrl));
  const large: Applications[] = [];
  for (const applications of LARGE_SERVERS) {
    const started = stack.use(await startApplications({ applications, games: LARGE, latencyMs }));
    // One that stands still hears no other signal, and does not see us go.
    const kill = () => void started.child.kill('SIGKILL');
    process.once('exit', kill);
    stack.defer(kill);
    large.push(started);
  }
  // A new one each time: its games are new, so is its connection.
  const small = stack.use(
    await startApplications({ applications: (WARM_TURNS + turns) * BESIDE.length, games: SMALL, latencyMs }),
  );
  const largePorts = large.flatMap(({ ports }) => ports);
  const largeIds = await register(ground, sql, largePorts, CONCURRENCY, 'large', rate);
  const smallIds = await register(ground, sql, small.ports, CONCURRENCY, 'small', rate);
  const worker = stack.use(await startWorker(ground, databaseUrl));
  for (const id of largeIds) await startRun(foundation, id);

  const times = new Map(BESIDE.map((count) => [count, [] as number[]]));
  for (let turn = -WARM_TURNS; turn < turns; turn += 1) {
    for (const [answering, count] of BESIDE.entries()) {
      await letAnswer(large, answering);
      const ms = await runMs(sql, foundation, smallIds.pop() ?? '');
      if (turn >= 0) times.get(count)?.push(ms);
    }
  }
  const [ended] = await sql`
    select application_id, reason from sync_runs where finished_at is not null and application_id like 'large-%'`;
  if (ended !== undefined) throw new Error(`the run of ${ended.application_id} ended: ${ended.reason}`);
  worker.child.kill('SIGKILL');

  const alone = times.get(0) ?? [];
  return BESIDE.flatMap((count): Row[] => {
    const own = times.get(count) ?? [];
    const figure = count === 0 ? 'alone' : `beside ${count}`;
    const note = `95 in 100 within ${percentile95(own).toFixed(0)} ms`;
    const took: Row = { section, figure, value: median(own), unit: 'ms', note };
    if (count === 0) return [took];
    // Neighbours are compared: what else the machine does changes from turn to turn.
    const value = median(own.map((ms, turn) => ms / (alone[turn] ?? Number.NaN)));
    return [took, { section, figure: `${figure} / alone`, value, unit: '', ...(mark && { mark }) }];
  });
};

await using servers = await startServers();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await servers[Symbol.asyncDispose]();
    process.exit(1);
  });
}
const { cpu, cores, node } = machine();
process.stdout.write(`${cpu}, ${cores} cores, Node ${node}; queue in ${options.queue}\n`);
for (const circumstances of CIRCUMSTANCES)
  process.stdout.write(`${tableOf(await measure(servers, circumstances))}\n`);
