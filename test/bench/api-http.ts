import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { openDatabase } from '#db/client.ts';
import { buildApi } from '#src/api/app.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import { loadGames, say, withDatabase } from '#test/bench/api-database.ts';
import type { Load, Measured } from '#test/bench/api-load.ts';
import { median, type Row, tableOf } from '#test/bench/report.ts';
import { addToken } from '#test/support/factories.ts';

// Calls per second and latency over HTTP, 16 callers in a thread of this process, beside a bare Fastify route that reads
// one row by its key: `node test/bench/api-http.ts 1000000 [directory to keep the database in]`. With a status, the games
// are those of this status in a database that another bench has kept: `… 9800000 DIRECTORY passed`.
// Many short turns: a long one would meet more of the other load on a shared machine.
const CALLS = 500;
const ROUNDS = 30;
const WARMING_ROUNDS = 6;
const BARE = 'bare route';
const PAGES = ['first page', 'middle page', 'last page'];
/** Calls per second of each page on two cores, shared with the load generator. */
const PAGES_PER_SECOND_MIN = 2_000;

const measure = async (caller: Worker, load: Load): Promise<Measured> => {
  const answer = once(caller, 'message');
  caller.postMessage(load);
  return (await answer)[0];
};

/** Measures both operations and the bare route, in turns. */
export const measureHttp = async (
  databaseUrl: string,
  games: number,
  audit_status: AuditStatus = 'pending',
): Promise<Row[]> => {
  const sql = openDatabase(databaseUrl, { max: 20, planOnce: true });
  const { token } = await addToken(sql, null);
  const [row] = await sql`select game_id from games where application_game_id = 'game-7'`;
  const game_id: string = row?.game_id;
  const bare = fastify();
  bare.post<{ Body: { game_id: string } }>('/', async ({ body }) => {
    const rows =
      await sql`select game_id, game_name, audit_status from games where game_id = ${body.game_id}`;
    return rows[0];
  });
  const api = await buildApi({
    sql,
    auditTimeZone: 'UTC',
    rateLimit: { max: 100_000_000, timeWindowMs: 60_000 },
    logger: pino({ level: 'silent' }),
    ready: async () => {},
  });
  const bareUrl = await bare.listen({ host: '127.0.0.1', port: 0 });
  const apiUrl = await api.listen({ host: '127.0.0.1', port: 0 });
  const list = `${apiUrl}/open-api/game/list-by-audit-status`;
  const page = (page_num: number) => JSON.stringify({ audit_status, page_num, page_size: 20 });
  const last = Math.ceil(games / 20);
  const middle = Math.ceil(last / 2);
  const oneGame = JSON.stringify({ game_id });
  const anyPages = (round: number) =>
    Array.from({ length: CALLS }, (_, call) => page((((round * CALLS + call) * 7_919) % last) + 1));
  const loads: [name: string, url: string, bodies: (round: number) => string[]][] = [
    [BARE, `${bareUrl}/`, () => [oneGame]],
    ['detail', `${apiUrl}/open-api/game/query-detail`, () => [oneGame]],
    ['first page', list, () => [page(1)]],
    ['middle page', list, () => [page(middle)]],
    ['last page', list, () => [page(last)]],
    ['another page each call', list, anyPages],
  ];
  const measured = new Map<string, Measured[]>(loads.map(([name]) => [name, []]));
  const caller = new Worker(new URL('./api-load.ts', import.meta.url));
  // In turns, so that other load on the machine affects all alike.
  for (let round = 1; round <= WARMING_ROUNDS + ROUNDS; round += 1) {
    for (const [name, url, bodies] of loads) {
      const result = await measure(caller, { url, token, bodies: bodies(round), calls: CALLS });
      if (round > WARMING_ROUNDS) measured.get(name)?.push(result);
    }
  }
  await caller.terminate();
  await Promise.all([bare.close(), api.close()]);
  await sql.end({ timeout: 5 });
  return rowsOf(measured);
};

const rowsOf = (measured: ReadonlyMap<string, Measured[]>): Row[] => {
  const of = (name: string, figure: keyof Measured): number =>
    median((measured.get(name) ?? []).map((result) => result[figure]));
  const section = 'api';
  const rows: Row[] = [...measured.keys()].map((name) => ({
    section,
    figure: `over HTTP: ${name}`,
    value: of(name, 'perSecond'),
    unit: 'calls/s',
    ...(PAGES.includes(name) && { mark: { min: PAGES_PER_SECOND_MIN } }),
    note: `p50 ${of(name, 'p50').toFixed(2)} ms, p99 ${of(name, 'p99').toFixed(2)} ms`,
  }));
  const p50 = PAGES.map((name) => of(name, 'p50'));
  rows.push({
    section,
    figure: 'over HTTP: slowest page over fastest, p50',
    value: Math.max(...p50) / Math.min(...p50),
    unit: 'times',
    mark: { max: 2 },
  });
  return rows;
};

if (import.meta.main) {
  const [games = '10000', kept, status] = process.argv.slice(2);
  await withDatabase(async (sql, databaseUrl) => {
    if (status === undefined) await loadGames(sql, Number(games));
    say(tableOf(await measureHttp(databaseUrl, Number(games), status as AuditStatus | undefined)));
  }, kept);
}
