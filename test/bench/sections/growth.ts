import { type Database, openDatabase, STATEMENT_MS } from '#db/client.ts';
import { selectGameDetail, selectGamePage } from '#db/queries/api-games.ts';
import { pruneEvents } from '#db/queries/events.ts';
import { findGame } from '#db/queries/games.ts';
import { laneList } from '#src/lists/review.ts';
import { findWaitingPlace } from '#src/review/lanes.ts';
import { addApplications } from '#test/bench/api-database.ts';
import { type Applications, register, startWorker, syncAll } from '#test/bench/fleet.ts';
import { median, type Row } from '#test/bench/report.ts';
import { loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { APPLICATIONS, CONCURRENCY, startIngestApplications } from '#test/bench/sections/ingest.ts';
import type { Servers } from '#test/bench/servers.ts';
import { readPage } from '#test/support/lists.ts';

const TURNS = 100;
const WARM_UP = 20;
const PAGE_SIZE = 20;
/** A tenth of the games has an event of the last days, and each catalogue as many old ones. */
const OLD_EVENTS = 50_000;
const DAY_MS = 24 * 60 * 60_000;

/** `api`: a pool as the API has it. */
type Catalogue = { games: number; databaseUrl: string; sql: Database; api: Database };

const fill = async ({ databaseUrl, games }: Catalogue): Promise<void> => {
  const sql = openDatabase(databaseUrl, { max: 4, statementMs: STATEMENT_MS.none });
  await addApplications(sql);
  // No schedule of theirs ticks beside what is measured.
  await sql`update applications set status = 'paused'`;
  await loadReviewedGames(sql, games, 'A game to play.');
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into events (event_id, application_id, type, game_id, data, created_at, position)
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
        'app-' || i % 100, 'game.passed', gen_random_uuid(), '{}', at, i
      from generate_series(1, ${OLD_EVENTS + games / 10}::int) i, lateral (select
        now() - case when i <= ${OLD_EVENTS}::int then interval '91 days' else interval '80 days' end
          + i * interval '1 millisecond' as at) as moment`;
  });
  // Neither catalogue has changes that the counters lack: how many the last writers left is chance.
  await sql`select fold_game_counts()`;
  await sql`vacuum analyze events, game_count_changes, game_counts`;
  await sql`checkpoint`;
  await sql.end();
};

const rateInto = async (
  servers: Servers,
  { databaseUrl, sql }: Catalogue,
  { ports }: Applications,
  games: number,
  round: number,
): Promise<number> => {
  const ids = await register(servers, sql, ports, CONCURRENCY, `round-${round}`);
  await using _worker = await startWorker(servers, databaseUrl);
  const { wallMs } = await syncAll(servers, databaseUrl, sql, ids);
  return games / (wallMs / 1_000);
};

const pageAt = (round: number, last: number): number => 1 + Math.floor(((round % 10) / 9) * (last - 1));

/** What reads and deletes, as it is called with the number of the turn. */
const prepare = async ({ sql, api }: Catalogue) => {
  const list = (scope: string | null, page_num: number) =>
    selectGamePage(api, { scope, audit_status: 'passed', page_num, page_size: PAGE_SIZE });
  const pagesOf = async (scope: string | null) => {
    const { total } = await list(scope, 1);
    const last = Math.ceil(total / PAGE_SIZE);
    return (turn: number) => list(scope, pageAt(turn, last));
  };
  const [all, ofOne] = [await pagesOf(null), await pagesOf('app-7')];
  const seen = (await Array.fromAsync({ length: 10 }, (_, turn) => all(turn))).flatMap((page) => page.list);
  const lane = (name: 'new' | 'changed') => readPage(sql, laneList, { lane: name }, { limit: 60 });
  const { rows: waiting } = await lane('new');
  const games = await Promise.all(waiting.map(({ game_id }) => findGame(sql, game_id)));
  return {
    'API: a page of all applications': all,
    'API: a page of one application': ofOne,
    'API: a detail': (turn: number) =>
      selectGameDetail(api, { scope: null, game_id: seen[turn % seen.length]?.game_id ?? '' }),
    'new lane: first page': () => lane('new'),
    'changed lane: first page': () => lane('changed'),
    'place of a game in its lane': (turn: number) =>
      findWaitingPlace(sql, games[turn % games.length] as NonNullable<(typeof games)[number]>),
    'prune: a hundred events': () => pruneEvents(sql, 90 * DAY_MS, 100, ''),
  } satisfies Record<string, (turn: number) => Promise<unknown>>;
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

/** Vacuum after one application of a hundred was written again, in milliseconds for each million games. */
const vacuumMs = async ({ databaseUrl, games }: Catalogue, application: string): Promise<number> => {
  const sql = openDatabase(databaseUrl, { max: 1, statementMs: STATEMENT_MS.none });
  await sql`update games set list_hash = 'changed' where application_id = ${application}`;
  // What the update wrote is on the disk, so that its checkpoint falls into no vacuum.
  await sql`checkpoint`;
  const ms = await timed(() => sql`vacuum games`);
  await sql.end();
  return ms / (games / 1_000_000);
};

const rowOf = (figure: string, small: number[], large: number[], note = ''): Row => {
  const [before, after] = [median(small), median(large)];
  const times = `${before.toFixed(2)} and ${after.toFixed(2)} ms${note}`;
  return { section: 'growth', figure, value: after / before, unit: 'times', mark: { max: 1.3 }, note: times };
};

/** A large catalogue against a small one, in turns: ingest, the API's pages, lanes, prune, vacuum. */
export const measureGrowth = async (
  servers: Servers,
  { base, stock, games, rounds }: { base: number; stock: number; games: number; rounds: number },
): Promise<Row[]> => {
  await using stack = new AsyncDisposableStack();
  const open = async (rows: number): Promise<Catalogue> => {
    const { databaseUrl, sql } = stack.use(await servers.createDatabase());
    const api = stack.adopt(openDatabase(databaseUrl, { max: 1, planOnce: true }), (pool) => pool.end());
    const catalogue = { games: rows, databaseUrl, sql, api };
    await fill(catalogue);
    return catalogue;
  };
  const [small, large] = [await open(base), await open(stock)];
  const [ofSmall, ofLarge] = [await prepare(small), await prepare(large)];
  const rows: Row[] = [];
  for (const figure of Object.keys(ofSmall) as (keyof typeof ofSmall)[]) {
    const times: [number[], number[]] = [[], []];
    for (let turn = 0; turn < WARM_UP + TURNS; turn += 1)
      for (const [at, work] of [ofSmall[figure], ofLarge[figure]].entries()) {
        const ms = await timed(() => work(turn));
        if (turn >= WARM_UP) times[at]?.push(ms);
      }
    rows.push(rowOf(figure, ...times));
  }
  // Before the ingest, whose rows are a larger part of the small catalogue.
  const vacuums: [number[], number[]] = [[], []];
  for (const application of ['app-1', 'app-2', 'app-3'])
    for (const [at, catalogue] of [small, large].entries())
      vacuums[at]?.push(await vacuumMs(catalogue, application));
  const applications = stack.use(await startIngestApplications(games));
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const rate = await rateInto(servers, small, applications, games, round);
    ratios.push((await rateInto(servers, large, applications, games, round)) / rate);
  }
  const note = `${APPLICATIONS} applications, ${games.toLocaleString('en')} games`;
  const sizes = `${stock.toLocaleString('en')} rows / ${base.toLocaleString('en')}`;
  return [
    {
      section: 'growth',
      figure: `${sizes}: ingest`,
      value: median(ratios),
      unit: 'of the rate',
      mark: { min: 0.8 },
      note,
    },
    ...rows,
    rowOf('vacuum', ...vacuums, ' a million games'),
  ];
};
