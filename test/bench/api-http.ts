import { randomUUIDv7 } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { openDatabase } from '#db/client.ts';
import { insertToken } from '#db/queries/tokens.ts';
import { createAccessToken, hashAccessToken } from '#src/api/access-token.ts';
import { buildApi } from '#src/api/app.ts';
import { loadGames, say, withDatabase } from './api-database.ts';

/**
 * Requests per second and latency over HTTP, beside a bare Fastify route that returns one row by key:
 * `node test/bench/api-http.ts 1000000`. A thread of this process makes the calls, 16 at a time.
 */
type Load = { url: string; token: string; body: string; calls: number };
type Measured = { perSecond: number; p50: number; p99: number };
const CONCURRENCY = 16;
const CALLS = 3_000;
const ROUNDS = 5;

const call = (agent: Agent, { url, token, body }: Load): Promise<void> =>
  new Promise((done, failed) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) failed(new Error(`answered ${response.statusCode}`));
      response.resume().on('end', done);
    });
    sent.on('error', failed).end(body);
  });

const makeLoad = async (load: Load): Promise<Measured> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const times: number[] = [];
  let left = load.calls;
  const from = performance.now();
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      await call(agent, load);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  const seconds = (performance.now() - from) / 1_000;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { perSecond: load.calls / seconds, p50: at(0.5), p99: at(0.99) };
};

const measure = (load: Load): Promise<Measured> =>
  new Promise((done, failed) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: load });
    worker.on('message', done).on('error', failed);
  });

const main = async (): Promise<void> => {
  const games = Number(process.argv[2] ?? 10_000);
  await withDatabase(async (loader, databaseUrl) => {
    await loadGames(loader, games);
    const sql = openDatabase(databaseUrl, { max: 20 });
    const token = createAccessToken();
    await insertToken(sql, {
      token_id: randomUUIDv7(),
      token_hash: hashAccessToken(token),
      application_id: null,
      name: 'bench',
      expires_at: null,
    });
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
    const page = (page_num: number) => JSON.stringify({ audit_status: 'pending', page_num, page_size: 20 });
    const last = Math.ceil(games / 20);
    const loads: [string, string, string][] = [
      ['bare route', `${bareUrl}/`, JSON.stringify({ game_id })],
      ['detail', `${apiUrl}/open-api/game/query-detail`, JSON.stringify({ game_id })],
      ['first page', list, page(1)],
      ['middle page', list, page(Math.ceil(last / 2))],
      ['last page', list, page(last)],
    ];
    const measured = new Map<string, Measured[]>(loads.map(([name]) => [name, []]));
    // Turn about, so that whatever else the machine does meets all alike; the first round only warms up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, url, body] of loads) {
        const result = await measure({ url, token, body, calls: CALLS });
        if (round > 0) measured.get(name)?.push(result);
      }
    }
    const median = (all: number[]) => all.sort((x, y) => x - y)[Math.floor(all.length / 2)] ?? 0;
    for (const [name, results] of measured) {
      const of = (figure: keyof Measured) => median(results.map((result) => result[figure]));
      say(
        `${name}: ${Math.round(of('perSecond'))} requests/s, p50 ${of('p50').toFixed(2)} ms, p99 ${of('p99').toFixed(2)} ms`,
      );
    }
    await Promise.all([bare.close(), api.close()]);
    await sql.end({ timeout: 5 });
  });
};

if (parentPort === null) await main();
else parentPort.postMessage(await makeLoad(workerData as Load));
