import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/client.ts';
import { onlyRow } from '#db/rows.ts';
import { register, startApplications, startWorker, syncAll } from '#test/bench/fleet.ts';
import type { Row } from '#test/bench/report.ts';
import type { Servers } from '#test/bench/servers.ts';

/** A day of 1,000,000 games: a run every 15 minutes, and each detail once. */
const DAY = { games: 1_000_000, runs: 96, maxMb: 20 };
/** Sessions report what they wrote at most this late. */
const STATS_MS = 1_500;

type Written = { wal: number; dead: number };

const readWritten = async (sql: Database): Promise<Written> => {
  await sleep(STATS_MS);
  return onlyRow(sql<Written[]>`
    select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, (n_tup_upd + n_tup_del)::float8 as dead
    from pg_stat_user_tables where relname = 'games'`);
};

/** Ends autovacuum until the scope ends: it logs new statistics, which are no part of a run. */
const pauseAutovacuum = async (sql: Database): Promise<AsyncDisposable> => {
  await sql`alter system set autovacuum = off`;
  await sql`select pg_reload_conf()`;
  return {
    [Symbol.asyncDispose]: async () => {
      await sql`alter system reset autovacuum`;
      await sql`select pg_reload_conf()`;
    },
  };
};

/** What runs of a catalogue of one application write to the WAL: the first one, and those that find nothing changed. */
export const measureUnchanged = async (servers: Servers, games: number): Promise<Row[]> => {
  await using applications = await startApplications({ applications: 1, games, latencyMs: 0 });
  await using database = await servers.createDatabase();
  const { sql, databaseUrl } = database;
  const [id = ''] = await register(servers, sql, applications.ports, 8);
  await using _worker = await startWorker(servers, databaseUrl);
  /** What one run writes of each game. */
  const measure = async (): Promise<Written> => {
    const before = await readWritten(sql);
    await syncAll(servers, databaseUrl, sql, [id]);
    const after = await readWritten(sql);
    return { wal: (after.wal - before.wal) / games, dead: (after.dead - before.dead) / games };
  };
  const first = await measure();
  await using _paused = await pauseAutovacuum(sql);
  // After a checkpoint the first change of a page writes the whole page.
  await sql`vacuum (freeze, analyze)`;
  await sql`checkpoint`;
  await measure();
  const run = await measure();
  await sql`update applications set detail_max_age_ms = 1`;
  const details = await measure();
  const section = 'unchanged';
  const row = (figure: string, value: number, unit: string, max?: number): Row => ({
    section,
    figure,
    value,
    unit,
    ...(max !== undefined && { mark: { max } }),
  });
  return [
    row('a run', run.wal, 'B of WAL a game'),
    row('a run of every detail', details.wal, 'B of WAL a game'),
    row('a run / a first pull', run.wal / first.wal, 'of the WAL', 1 / 5_000),
    row('a run of every detail / a first pull', details.wal / first.wal, 'of the WAL', 1 / 100),
    row('rewritten games', run.dead + details.dead, 'of the games', 0),
    row(
      'a day of 1,000,000 games',
      (DAY.games / 1e6) * (DAY.runs * run.wal + details.wal),
      'MB of WAL',
      DAY.maxMb,
    ),
  ];
};
