import { createReferenceTable } from '#test/bench/columns/reference.ts';
import { type Applications, register, startApplications, startWorker, syncAll } from '#test/bench/fleet.ts';
import { startProcess, type Usage } from '#test/bench/processes.ts';
import type { Servers } from '#test/bench/servers.ts';

export const APPLICATIONS = 10;
/** Detail calls in flight for each application: the default. */
export const CONCURRENCY = 8;

export type Figures = { gamesPerSecond: number; cpuUsPerGame: number; wallMs: number; maxRssMb: number };

/** What a worker did between two looks at it. */
export const figuresOf = (games: number, wallMs: number, before: Usage, after: Usage): Figures => ({
  gamesPerSecond: games / (wallMs / 1_000),
  cpuUsPerGame: (after.cpuUs - before.cpuUs) / games,
  wallMs,
  maxRssMb: after.maxRssMb,
});

/** One pass of one of the columns that we compare ourselves with. */
export const ingestReference = async (
  servers: Servers,
  { ports }: Applications,
  column: 'limit' | 'plain',
  games: number,
): Promise<Figures> => {
  await using database = await servers.createDatabase();
  await createReferenceTable(database.databaseUrl);
  await using worker = startProcess(`./columns/${column}.ts`);
  await worker.next('ready');
  const before = await worker.usage();
  const { redisUrl } = servers;
  const { databaseUrl } = database;
  const go = { databaseUrl, redisUrl, ports, games: games / ports.length, concurrency: CONCURRENCY };
  const wallMs = await worker.ask<number>({ go }, 'wallMs');
  const after = await worker.usage();
  const [stored] = await database.sql`select count(*)::int as games from reference_games`;
  if (stored?.games !== games) throw new Error(`${column} stored ${stored?.games} of ${games} games`);
  return figuresOf(games, wallMs, before, after);
};

/**
 * Unchanged passes that are measured as one. A single pass takes a quarter of a second: a major collection that falls
 * into it, or not, changes its figure by a third.
 */
const RESYNC_PASSES = 5;

export type Resync = Figures & { detailCalls: number; rowsUpdated: number };
export type Ours = { ingest: Figures; resync: Resync };

/** One pass of our own worker, and `RESYNC_PASSES` more over the same games, unchanged. */
export const ingestOurs = async (
  servers: Servers,
  applications: Applications,
  games: number,
): Promise<Ours> => {
  await using database = await servers.createDatabase();
  const { sql, databaseUrl } = database;
  const ids = await register(servers, sql, applications.ports, CONCURRENCY);
  await using worker = await startWorker(servers, databaseUrl);
  const measure = async (passes: number) => {
    const before = await worker.usage();
    const synced = await Array.fromAsync({ length: passes }, () => syncAll(servers, databaseUrl, sql, ids));
    const wallMs = synced.reduce((sum, one) => sum + one.wallMs, 0);
    const figures = figuresOf(games * passes, wallMs, before, await worker.usage());
    return { figures: { ...figures, wallMs: wallMs / passes }, runs: synced.flatMap(({ runs }) => runs) };
  };
  const first = await measure(1);
  const inserted = first.runs.reduce((sum, run) => sum + run.inserted, 0);
  if (inserted !== games) throw new Error(`ours stored ${inserted} of ${games} games`);

  // xmin names the transaction that wrote a row last: it differs after any update.
  const written = () => sql<{ mark: string }[]>`select max(xmin::text::bigint)::text as mark from games`;
  const [rowsBefore, callsBefore] = [await written(), await applications.calls()];
  const second = await measure(RESYNC_PASSES);
  const [rowsAfter, callsAfter] = [await written(), await applications.calls()];
  const [updated] = await sql<{ rows: number }[]>`
    select count(*)::int as rows from games where xmin::text::bigint > ${rowsBefore[0]?.mark ?? 0}::bigint`;
  if (rowsBefore[0]?.mark !== rowsAfter[0]?.mark && updated?.rows === 0)
    throw new Error('xmin went backwards');
  return {
    ingest: first.figures,
    resync: {
      ...second.figures,
      detailCalls: callsAfter.query_game_detail - callsBefore.query_game_detail,
      rowsUpdated: updated?.rows ?? 0,
    },
  };
};

export const startIngestApplications = (games: number): Promise<Applications> =>
  startApplications({ applications: APPLICATIONS, games: games / APPLICATIONS, latencyMs: 0 });
