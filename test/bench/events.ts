// How soon does a changed description go back to review after its ping, alone and beside a long run? Do fifty dead
// receivers of events delay fifty live ones? One worker:
// node test/bench/events.ts [--pings 50] [--turns 5] [--queue redis|postgres]. Takes about eight minutes.
//
// The receivers: the time from the moment when 1,000 events to fifty live receivers are due until all are recorded as
// delivered; in turn alone, beside fifty dead receivers with 500 events, each of which is probed at that moment, and
// beside the same fifty when they have just died: each is sent four events at once before it has failed.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { insertToken } from '#db/queries/tokens.ts';
import { buildApi } from '#src/api/app.ts';
import { REFRESH_PATH } from '#src/contract/events.ts';
import { createApiToken } from '#src/identity/secrets.ts';
import { deliverEvent } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import type { Foundation } from '#src/processes/foundation.ts';
import { hashApiToken } from '#src/rules/api-token.ts';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { sealNewEventSecret } from '#src/sealing/event-secret.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';
import { openProducer, startRun, startWorker } from '#test/bench/fleet.ts';
import { poll, startDead, startLive } from '#test/bench/receivers.ts';
import { machine, median, type Row, tableOf } from '#test/bench/report.ts';
import { startServers } from '#test/bench/servers.ts';
import { ACCESS_TOKEN, aDetail, addApplication, fetchedGame, webhooksAt } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

const { values: options } = parseArgs({
  options: {
    pings: { type: 'string', default: '50' },
    turns: { type: 'string', default: '5' },
    queue: { type: 'string', default: 'redis' },
  },
});
const [pings, turns] = [Number(options.pings), Number(options.turns)];
if (!(pings >= 0 && turns >= 0) || !/^(redis|postgres)$/.test(options.queue))
  throw new Error('usage: --pings 50 --turns 5 --queue redis|postgres');

const MONTH_MS = 30 * 24 * 60 * 60_000;
/** Games that a long run fetches at 50 a second: 400 s. */
const LONG_GAMES = 20_000;
const RECEIVERS = 50;
const EVENTS = { live: 20, dead: 10 };
/** The worker runs faster after its first events. */
const WARM_TURNS = 1;
const CIRCUMSTANCES = ['alone', 'dead', 'just died'] as const;
type Circumstance = (typeof CIRCUMSTANCES)[number];

await using servers = await startServers();
await using database = await servers.createDatabase();
const { sql, databaseUrl } = database;
const ground = { ...servers, redisUrl: options.queue === 'redis' ? servers.redisUrl : undefined };
const keys = await openKeyRing({ ...servers, databaseUrl: undefined });

/** Register an application with the default settings, whose schedule does not tick meanwhile. */
const register = (application_id: string, url: string) =>
  addApplication(
    sql,
    application_id,
    { ...webhooksAt(url), detail_max_age_ms: MONTH_MS, concurrency: 8, rate: 50 },
    keys,
  );

const isOpen = async (run_id: string): Promise<boolean> => {
  const [run] = await sql`select from sync_runs where run_id = ${run_id} and finished_at is null`;
  return run !== undefined;
};

/** From the ping until the game is pending, in milliseconds, for one game after the other; alone or beside a long run. */
const measurePings = async (foundation: Foundation, section: string, isBeside: boolean): Promise<Row[]> => {
  await using stack = new AsyncDisposableStack();
  const application_id = isBeside ? 'beside' : 'alone';
  const server = await startSampleApplication({ accessToken: ACCESS_TOKEN, games: pings });
  stack.defer(() => server.close());
  await register(application_id, server.url);
  const first = await startRun(foundation, application_id);
  await poll('the first run ends', async () => !(await isOpen(first)));
  const token = createApiToken();
  await insertToken(sql, {
    token_id: crypto.randomUUID(),
    token_hash: hashApiToken(token),
    application_id,
    name: 'bench',
    expires_at: null,
  });
  const api = await buildApi({
    sql,
    auditTimeZone: 'UTC',
    logger: pino({ level: 'silent' }),
    ready: async () => {},
  });
  stack.defer(() => api.close());
  const url = new URL(REFRESH_PATH, await api.listen({ host: '127.0.0.1', port: 0 }));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  const ids = server.games.all().map(({ game_id }) => game_id);
  let run_id = '';
  if (isBeside) {
    for (let n = 0; n < LONG_GAMES; n += 1) server.games.add(aDetail({ game_id: `new-${n}` }));
    run_id = await startRun(foundation, application_id);
    await poll('the run calls details', async () => server.calls.query_game_detail > pings);
  }
  const times: number[] = [];
  for (const id of ids) {
    const game_id = (await findApplicationGame(sql, application_id, id))?.game_id ?? '';
    await decideGame(sql, { game_id, audit_status: 'passed' });
    server.games.update(id, { game_info: 'Another description.' });
    // At any moment of the worker's second.
    await sleep(1_000 * Math.random());
    const from = performance.now();
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ game_ids: [id] }) });
    if (response.status !== 200) throw new Error(`game/refresh answered ${response.status}`);
    await poll('the game is pending', async () => {
      const [row] = await sql`select from games where game_id = ${game_id} and audit_status = 'pending'`;
      return row !== undefined;
    });
    times.push(performance.now() - from);
  }
  if (isBeside && !(await isOpen(run_id))) throw new Error('the long run ended before the pings');
  return [
    { section, figure: 'median', value: median(times), unit: 'ms' },
    { section, figure: 'most', value: Math.max(...times), unit: 'ms', mark: { max: 5_000 } },
  ];
};

/** Applications with a receiver each, and events that were delivered or gave up. */
const addReceivers = async (kind: keyof typeof EVENTS, urls: readonly string[]): Promise<void> => {
  for (const [index, url] of urls.entries()) {
    const application_id = `${kind}-${index}`;
    await register(application_id, 'http://127.0.0.1:9');
    const { sealed } = await sealNewEventSecret(keys, { application_id, url });
    await upsertEventWebhook(sql, { application_id, url, ...sealed });
    const games = Array.from({ length: EVENTS[kind] }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
    await upsertGames(sql, application_id, games);
    for (const { game_id } of games) await decideGame(sql, { game_id, audit_status: 'passed' });
  }
};

/** Each event of these applications is due now. @param failures of their addresses, in a row */
const makeDue = async (kind: keyof typeof EVENTS, failures: number): Promise<void> => {
  const which = `${kind}-%`;
  await sql`
    update event_webhooks
    set next_attempt_at = now(), failures = ${failures}, status = 'active', off_reason = null, off_at = null,
        failing_since = case when ${failures} > 0 then now() end
    where application_id like ${which}`;
  await sql`
    update event_deliveries set state = 'pending', attempts = 0, requested_at = now(), next_attempt_at = now()
    where application_id like ${which}`;
};

const giveUp = async (kind: keyof typeof EVENTS): Promise<void> => {
  await sql`update event_deliveries set state = 'failed' where application_id like ${`${kind}-%`} and state = 'pending'`;
};

/** Until every event to a live receiver is recorded as delivered, in milliseconds. */
const deliverAll = async ({ producer }: Foundation, circumstance: Circumstance): Promise<number> => {
  if (circumstance !== 'alone') await makeDue('dead', circumstance === 'dead' ? 1 : 0);
  await makeDue('live', 0);
  const from = performance.now();
  await addUrgentJobs(sql, producer);
  await poll('every event is delivered', async () => {
    const [waiting] = await sql`
      select from event_deliveries where state = 'pending' and application_id like 'live-%' limit 1`;
    return waiting === undefined;
  });
  const ms = performance.now() - from;
  await giveUp('dead');
  await poll(
    'the calls to dead receivers end',
    async () => (await producer.queue(deliverEvent).getActiveCount()) === 0,
  );
  return ms;
};

const measureReceivers = async (foundation: Foundation): Promise<Row[]> => {
  await using stack = new AsyncDisposableStack();
  const live = await startLive(RECEIVERS);
  const dead = await startDead(RECEIVERS);
  stack.defer(() => {
    live.close();
    dead.close();
  });
  await addReceivers('live', live.urls);
  await addReceivers('dead', dead.urls);
  await giveUp('dead');
  await giveUp('live');
  const times: Record<Circumstance, number[]> = { alone: [], dead: [], 'just died': [] };
  for (let turn = -WARM_TURNS; turn < turns; turn += 1) {
    const order = turn % 2 === 0 ? CIRCUMSTANCES : CIRCUMSTANCES.toReversed();
    for (const circumstance of order) {
      const ms = await deliverAll(foundation, circumstance);
      if (turn >= 0) times[circumstance].push(ms);
    }
  }
  const section = `${RECEIVERS} live receivers`;
  // Neighbours are compared: what else the machine does changes from turn to turn.
  const ratio = (circumstance: Circumstance) =>
    median(times[circumstance].map((ms, turn) => ms / (times.alone[turn] ?? Number.NaN)));
  return [
    { section, figure: 'alone', value: median(times.alone), unit: 'ms' },
    { section, figure: `beside ${RECEIVERS} dead`, value: median(times.dead), unit: 'ms' },
    { section, figure: `beside ${RECEIVERS} just died`, value: median(times['just died']), unit: 'ms' },
    { section, figure: 'dead / alone', value: ratio('dead'), unit: '', mark: { max: 1.1 } },
    { section, figure: 'just died / alone', value: ratio('just died'), unit: '' },
  ];
};

const { cpu, cores, node } = machine();
process.stdout.write(`${cpu}, ${cores} cores, Node ${node}; queue in ${options.queue}\n`);
await using foundation = openProducer(ground, databaseUrl);
await using _worker = await startWorker(ground, databaseUrl);
if (turns > 0) process.stdout.write(`${tableOf(await measureReceivers(foundation))}\n`);
if (pings > 0) {
  process.stdout.write(
    `${tableOf(await measurePings(foundation, `${pings} pings, an idle fleet`, false))}\n`,
  );
  process.stdout.write(
    `${tableOf(await measurePings(foundation, `${pings} pings beside a long run`, true))}\n`,
  );
}
