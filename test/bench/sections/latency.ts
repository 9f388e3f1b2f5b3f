import { register, startApplications, startWorker, syncAll } from '../fleet.ts';
import type { Row } from '../report.ts';
import type { Servers } from '../servers.ts';

const APPLICATIONS = 100;
const GAMES = 200;
const LATENCY_MS = 100;

/**
 * A hundred applications that think 100 ms about every call. What latency and concurrency allow: the first page
 * of the list, then each application's detail calls, `concurrency` of them at any time.
 */
const measure = async (
  servers: Servers,
  concurrency: number,
): Promise<{ share: number; cpuShare: number }> => {
  await using applications = await startApplications({
    applications: APPLICATIONS,
    games: GAMES,
    latencyMs: LATENCY_MS,
  });
  await using database = await servers.createDatabase();
  const { sql, databaseUrl } = database;
  const ids = await register(servers, sql, applications.ports, concurrency);
  await using worker = await startWorker(servers, databaseUrl);
  const before = await worker.usage();
  const { wallMs } = await syncAll(servers, databaseUrl, sql, ids);
  const { cpuUs } = await worker.usage();
  const allowedMs = LATENCY_MS * (1 + GAMES / concurrency);
  return { share: allowedMs / wallMs, cpuShare: (cpuUs - before.cpuUs) / 1_000 / wallMs };
};

export const measureLatency = async (servers: Servers): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const concurrency of [2, 8]) {
    const { share, cpuShare } = await measure(servers, concurrency);
    const section = '100 ms latency';
    const offered = (APPLICATIONS * concurrency * 1_000) / LATENCY_MS;
    rows.push({
      section,
      figure: `${concurrency} calls at once`,
      value: share,
      unit: 'of what it allows',
      // 8,000 calls a second are more than one process makes on one core: there the CPU is what is measured.
      ...(concurrency === 2 ? { mark: { min: 0.9 } } : {}),
      note: `${offered.toLocaleString('en')} calls/s allowed, worker's CPU ${Math.round(cpuShare * 100)} %`,
    });
  }
  return rows;
};
