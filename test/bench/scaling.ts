// Does a second worker do as much as the first? 1, 2, 4 and 8 worker processes, one number after the other, pull from
// applications that think 100 ms about every call:
// node test/bench/scaling.ts [--workers 1,2,4,8] [--seconds 20] [--queue redis|postgres] [--batches 5]
//
// What bounds a worker is how many batches of details it holds at once, each waiting for its application. With five
// (of the hundred a worker has) it is offered a hundred games a second, so that eight workers fit on two cores:
// what is asked is whether they are in each other's way, not how fast the machine is. `--workers 1,2 --batches 50`
// fills two cores with two workers. Takes 40 s a number.
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type Applications,
  openProducer,
  register,
  startApplications,
  startRun,
  startWorker,
} from '#test/bench/fleet.ts';
import { machine, type Row, tableOf } from '#test/bench/report.ts';
import { type Servers, startServers } from '#test/bench/servers.ts';

const { values: options } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4,8' },
    seconds: { type: 'string', default: '20' },
    queue: { type: 'string', default: 'redis' },
    batches: { type: 'string', default: '5' },
  },
});
const steps = options.workers.split(',').map(Number);
const windowMs = Number(options.seconds) * 1_000;
const batches = Number(options.batches);
if (![...steps, windowMs, batches].every((number) => number > 0) || !/^(redis|postgres)$/.test(options.queue))
  throw new Error('usage: --workers 1,2,4,8 --seconds 20 --queue redis|postgres --batches 5');

const LATENCY_MS = 100;
/** Calls an application is sent at once. */
const CONCURRENCY = 2;
/** How long one page's details take: a hundred calls. */
const PAGE_MS = (100 / CONCURRENCY) * LATENCY_MS;
/** Each process has compiled by then what it runs. */
const WARM_MS = 2 * PAGE_MS;
/** No run ends while it is watched. */
const GAMES = 1_000_000;
/** More than run at once: a caller that ends a batch finds another one. */
const applicationsOf = (workers: number): number => Math.ceil(workers * batches * 1.5);
/** Of the cores: above it more workers can't do more. */
const FULL = 0.9;
/** Of Postgres: two pools of twenty a worker when the queues are there too. */
const CONNECTIONS = 60 + 44 * Math.max(...steps);

type Step = {
  workers: number;
  gamesPerSecond: number;
  landedPerSecond: number;
  /** Cores at work: of the machine, of the workers, of the applications' servers. */
  busy: { machine: number; workers: number; applications: number };
};

/** Milliseconds all cores of the machine have worked. */
const busyMs = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);

const measure = async (servers: Servers, applications: Applications, workers: number): Promise<Step> => {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl, sql } = stack.use(await servers.createDatabase());
  const ground = { ...servers, redisUrl: options.queue === 'redis' ? servers.redisUrl : undefined };
  const producer = stack.use(openProducer(ground, databaseUrl));
  const ports = applications.ports.slice(0, applicationsOf(workers));
  const ids = await register(ground, sql, ports, CONCURRENCY);
  const fleet = await Promise.all(
    Array.from({ length: workers }, async () =>
      stack.use(await startWorker(ground, databaseUrl, [], batches)),
    ),
  );
  // Spread over the time of a page, as the offsets of schedules spread them: pages land evenly.
  for (const id of ids) {
    await startRun(producer, id);
    await sleep(PAGE_MS / ids.length);
  }
  await sleep(WARM_MS);

  const look = async () => {
    const [used, answering, { query_game_detail: calls }, [games]] = await Promise.all([
      Promise.all(fleet.map((worker) => worker.usage())),
      applications.usage(),
      applications.calls(),
      sql<{ landed: number }[]>`select count(*)::int as landed from games`,
    ]);
    return {
      at: performance.now(),
      calls,
      landed: games?.landed ?? 0,
      machine: busyMs(),
      workers: used.reduce((sum, { cpuUs }) => sum + cpuUs / 1_000, 0),
      applications: answering.cpuUs / 1_000,
    };
  };
  const before = await look();
  await sleep(windowMs);
  const after = await look();
  const [bad] = await sql`select application_id, reason from sync_runs where finished_at is not null limit 1`;
  if (bad !== undefined) throw new Error(`the run of ${bad.application_id} ended: ${bad.reason}`);
  // Nothing is left to be done well: a worker that is told to stop would end its batches first.
  for (const worker of fleet) worker.child.kill('SIGKILL');
  const perMs = (key: keyof typeof before): number => (after[key] - before[key]) / (after.at - before.at);
  return {
    workers,
    gamesPerSecond: perMs('calls') * 1_000,
    landedPerSecond: perMs('landed') * 1_000,
    busy: {
      machine: perMs('machine'),
      workers: perMs('workers'),
      applications: perMs('applications'),
    },
  };
};

const rowsOf = (step: Step, last: Step | undefined): Row[] => {
  const { workers, gamesPerSecond, landedPerSecond, busy } = step;
  const section = `queue in ${options.queue}`;
  const cores = availableParallelism();
  const offered = (workers * batches * CONCURRENCY * 1_000) / LATENCY_MS;
  const note =
    `${offered.toLocaleString('en')} offered, ${Math.round(landedPerSecond).toLocaleString('en')} landed; ` +
    `${busy.machine.toFixed(2)} of ${cores} cores busy: workers ${busy.workers.toFixed(2)}, applications ${busy.applications.toFixed(2)}`;
  const rows: Row[] = [
    {
      section,
      figure: `${workers} worker${workers === 1 ? '' : 's'}`,
      value: gamesPerSecond,
      unit: 'games/s',
      note,
    },
  ];
  if (last === undefined) return rows;
  const value = gamesPerSecond / workers / (last.gamesPerSecond / last.workers);
  const full = busy.machine / cores > FULL;
  const figure = `${last.workers} to ${workers}`;
  const unit = 'of the rate a worker';
  rows.push({ section, figure, value, unit, ...(full ? { note: 'cores full' } : { mark: { min: 0.9 } }) });
  return rows;
};

await using servers = await startServers({ max_connections: String(CONNECTIONS) });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await servers[Symbol.asyncDispose]();
    process.exit(1);
  });
}
const { cpu, cores, node } = machine();
process.stdout.write(`${cpu}, ${cores} cores, Node ${node}\n`);
await using applications = await startApplications({
  applications: applicationsOf(Math.max(...steps)),
  games: GAMES,
  latencyMs: LATENCY_MS,
});
const rows: Row[] = [];
let last: Step | undefined;
for (const workers of steps) {
  const step = await measure(servers, applications, workers);
  rows.push(...rowsOf(step, last));
  last = step;
}
process.stdout.write(`${tableOf(rows)}\n`);
