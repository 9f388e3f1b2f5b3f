import { register, startApplications, startWorker, syncAll } from '#test/bench/fleet.ts';
import type { Row } from '#test/bench/report.ts';
import type { Servers } from '#test/bench/servers.ts';

/** More than an application would be given, so that a million games take minutes. */
const CONCURRENCY = 64;

const peakMb = async (servers: Servers, games: number): Promise<number> => {
  await using applications = await startApplications({ applications: 1, games, latencyMs: 0 });
  await using database = await servers.createDatabase();
  const ids = await register(servers, database.sql, applications.ports, CONCURRENCY);
  await using worker = await startWorker(servers, database.databaseUrl);
  await syncAll(servers, database.databaseUrl, database.sql, ids);
  return (await worker.usage()).maxRssMb;
};

/** The peak of a worker that pulls one application, small and large. */
export const measureMemory = async (servers: Servers, small: number, large: number): Promise<Row[]> => {
  const section = 'memory';
  const [few, many] = [await peakMb(servers, small), await peakMb(servers, large)];
  const figure = (games: number) => `${games.toLocaleString('en')} games`;
  return [
    { section, figure: figure(small), value: few, unit: 'MB at its peak' },
    { section, figure: figure(large), value: many, unit: 'MB at its peak' },
    { section, figure: 'large / small', value: many / few, unit: '', mark: { max: 1.3 } },
  ];
};
