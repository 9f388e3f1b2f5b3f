import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';
import type { IdleRequest } from '#test/bench/columns/idle.ts';
import { type Applications, register, startApplications, startWorker, syncAll } from '#test/bench/fleet.ts';
import { type BenchProcess, startProcess } from '#test/bench/processes.ts';
import { median, type Row } from '#test/bench/report.ts';
import { cpuOfServers } from '#test/bench/server-cpu.ts';
import type { Servers } from '#test/bench/servers.ts';

const APPLICATIONS = 100;
const GAMES = 20;
const EVERY_MS = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const POLL_MS = 500;
/** Longer than any round takes. */
const ROUND_MAX_MS = 5 * 60_000;

/** CPU of one run, in µs, by the process that spends it. */
export type IdleCost = { worker: number; postgres: number; redis: number };
const PARTS = ['worker', 'postgres', 'redis'] as const;

const totalOf = (cost: IdleCost): number => cost.worker + cost.postgres + cost.redis;

/** What an idle schedule does: it looks for changed games, or for a changed KYC record. */
const SUBJECTS = ['games', 'kyc'] as const;
type Subject = (typeof SUBJECTS)[number];

type CountRuns = () => Promise<number>;

/** Watches `runs` runs, after as many to warm up. */
const watch = async (
  servers: Servers,
  sql: Database,
  worker: BenchProcess,
  runs: number,
  countRuns: CountRuns,
): Promise<IdleCost> => {
  const deadline = Date.now() + ROUND_MAX_MS;
  const reach = async (count: number): Promise<number> => {
    for (;;) {
      const counted = await countRuns();
      if (counted >= count) return counted;
      if (Date.now() > deadline)
        throw new Error(`only ${counted} of ${count} idle runs within ${ROUND_MAX_MS} ms`);
      await sleep(POLL_MS);
    }
  };
  const read = async () => ({ ...(await cpuOfServers(servers, sql)), worker: (await worker.usage()).cpuUs });
  const from = await reach((await countRuns()) + runs);
  const before = await read();
  const to = await reach(from + runs);
  const after = await read();
  const cost = (part: keyof IdleCost): number => (after[part] - before[part]) / (to - from);
  return { worker: cost('worker'), postgres: cost('postgres'), redis: cost('redis') };
};

const countCalls =
  (applications: Applications, subject: Subject): CountRuns =>
  async () =>
    (await applications.calls())[subject === 'games' ? 'query_game_list' : 'query_cp_kyc'];

/** Schedules of our own worker, after a first pull. */
export const idleOurs = async (
  servers: Servers,
  applications: Applications,
  subject: Subject,
  runs: number,
): Promise<IdleCost> => {
  await using database = await servers.createDatabase();
  const { sql, databaseUrl } = database;
  const ids = await register(servers, sql, applications.ports, 8);
  {
    await using _first = await startWorker(servers, databaseUrl);
    await syncAll(servers, databaseUrl, sql, ids);
  }
  const [every_ms, kyc_every_ms] = subject === 'games' ? [EVERY_MS, DAY_MS] : [DAY_MS, EVERY_MS];
  await sql`update applications set ${sql({ every_ms, kyc_every_ms, status: 'active' })}`;
  await using worker = await startWorker(servers, databaseUrl);
  // A run makes a second call, because its first page may be as small as the application's page limit.
  const countEnded = () =>
    onlyValue(
      sql<{ count: number }[]>`select count(*)::int as count from sync_runs where finished_at is not null`,
    );
  const count = subject === 'games' ? countEnded : countCalls(applications, subject);
  const cost = await watch(servers, sql, worker, runs, count);
  const bad = await onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from sync_runs where outcome <> 'succeeded'`);
  if (bad > 0) throw new Error(`${bad} idle runs did not succeed`);
  return cost;
};

export const idlePlain = async (
  servers: Servers,
  applications: Applications,
  subject: Subject,
  runs: number,
): Promise<IdleCost> => {
  await using database = await servers.createDatabase();
  const { sql, databaseUrl } = database;
  await using worker = startProcess('./columns/idle.ts');
  await worker.next('ready');
  const go: IdleRequest = {
    databaseUrl,
    redisUrl: servers.redisUrl,
    ports: applications.ports,
    everyMs: EVERY_MS,
    path: subject === 'games' ? '/list' : '/kyc',
  };
  await worker.ask({ go }, 'started');
  return await watch(servers, sql, worker, runs, countCalls(applications, subject));
};

const AIM = 3;

/** What a schedule costs that finds nothing changed: ours and the plain job in turns; the ratio of each turn. */
export const measureIdle = async (servers: Servers, runs: number, rounds: number): Promise<Row[]> => {
  await using applications = await startApplications({
    applications: APPLICATIONS,
    games: GAMES,
    latencyMs: 0,
  });
  const rows: Row[] = [];
  for (const subject of SUBJECTS) {
    const [plain, ours]: [IdleCost[], IdleCost[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      plain.push(await idlePlain(servers, applications, subject, runs));
      ours.push(await idleOurs(servers, applications, subject, runs));
    }
    const section = subject === 'games' ? 'idle run, 20 games' : 'idle KYC pull';
    for (const [figure, costs] of [
      ['plain job', plain],
      ['ours', ours],
    ] as const)
      for (const part of PARTS)
        rows.push({
          section,
          figure: `${figure}, ${part}`,
          value: median(costs.map((cost) => cost[part])),
          unit: 'CPU µs',
        });
    const ratios = ours.map((cost, round) => totalOf(cost) / totalOf(plain[round] as IdleCost));
    rows.push({
      section,
      figure: 'ours / plain job',
      value: median(ratios),
      unit: 'of the CPU',
      mark: { max: AIM },
    });
  }
  return rows;
};
