import { register, startApplications, startWorker, syncAll } from '#test/bench/fleet.ts';
import { median, type Row } from '#test/bench/report.ts';
import type { Servers } from '#test/bench/servers.ts';

const APPLICATIONS = 100;
const GAMES = 200;
const PAGE = 100;
const LATENCY_MS = 100;
/** What a worker has pulled before it is watched: a new process is busy compiling for its first second. */
const WARM = { applications: 10, games: 200, latencyMs: 0 };

type Measured = { share: number; cpuShare: number };

/**
 * A hundred applications that think 100 ms about every call. What latency and concurrency allow: the first page
 * of the list, then an application's detail calls, `concurrency` of them at any time.
 * @param spread open the runs over the time of a page, as schedules do, and compare the median run with what is
 *   allowed; all at once, as `sync --all` does, it is the time until the last has ended
 */
const measure = async (servers: Servers, concurrency: number, spread: boolean): Promise<Measured> => {
  await using applications = await startApplications({
    applications: APPLICATIONS,
    games: GAMES,
    latencyMs: LATENCY_MS,
  });
  await using database = await servers.createDatabase();
  const { sql, databaseUrl } = database;
  const ids = await register(servers, sql, applications.ports, concurrency);
  await using worker = await startWorker(servers, databaseUrl);
  await using others = await startApplications(WARM);
  await syncAll(servers, databaseUrl, sql, await register(servers, sql, others.ports, concurrency, 'warm'));
  const before = await worker.usage();
  const pageMs = (LATENCY_MS * PAGE) / concurrency;
  const { wallMs, runs } = await syncAll(servers, databaseUrl, sql, ids, spread ? pageMs : 0);
  const { cpuUs } = await worker.usage();
  const runMs = median(runs.map((run) => (run.finished_at?.getTime() ?? 0) - run.started_at.getTime()));
  const allowedMs = LATENCY_MS * (1 + GAMES / concurrency);
  return {
    share: allowedMs / (spread ? runMs : wallMs),
    cpuShare: (cpuUs - before.cpuUs) / 1_000 / wallMs,
  };
};

/** 8,000 calls a second are more than one process makes on one core: there the CPU is what is measured. */
const CASES = [
  { concurrency: 2, spread: true, mark: { min: 0.9 } },
  { concurrency: 2, spread: false },
  { concurrency: 8, spread: false },
];

export const measureLatency = async (servers: Servers): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const { concurrency, spread, mark } of CASES) {
    const { share, cpuShare } = await measure(servers, concurrency, spread);
    const offered = (APPLICATIONS * concurrency * 1_000) / LATENCY_MS;
    rows.push({
      section: '100 ms latency',
      figure: `${concurrency} calls at once, ${spread ? 'as scheduled' : 'begun together'}`,
      value: share,
      unit: 'of what it allows',
      ...(mark && { mark }),
      note: `${offered.toLocaleString('en')} calls/s allowed, worker's CPU ${Math.round(cpuShare * 100)} %`,
    });
  }
  return rows;
};
