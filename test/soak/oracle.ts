// npm run soak:oracle -- [--queue redis|postgres] [--minutes N] [--kill-ms N]
// Kills random sessions of Postgres while applications change and reviewers decide, take back, and ping. Then all is
// compared with what the applications hold, have sent and have received, and with a copy made from the stream.
import { parseArgs } from 'node:util';
import { openDatabase } from '#db/client.ts';
import { scheduled } from '#test/fleet/schedules.ts';
import { openWorld } from '#test/fleet/world.ts';
import { startGround } from '#test/soak/ground.ts';
import { findUnservedPings, findViolations } from '#test/soak/oracle/checks.ts';
import { startLoads } from '#test/soak/oracle/loads.ts';
import { openTruth } from '#test/soak/oracle/truth.ts';
import { followStream } from '#test/stream/follow.ts';
import { startFleetProcess } from '#test/support/fleet-process.ts';
import { until } from '#test/support/until.ts';

const APPLICATIONS = 6;
const GAMES = 240;
const REPORT_MS = 30_000;
/** Machines are shared, and a killed delivery is sent again after its backoff. */
const SETTLE_MS = 15 * 60_000;

const { values } = parseArgs({
  options: {
    queue: { type: 'string', default: 'redis' },
    minutes: { type: 'string', default: '10' },
    'kill-ms': { type: 'string', default: '700' },
  },
});
if (values.queue !== 'redis' && values.queue !== 'postgres') throw new Error('--queue is redis or postgres');
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
const ground = await startGround(stack);
const world = stack.use(
  await openWorld(ground, { queue: values.queue, applications: APPLICATIONS, games: GAMES, patient: true }),
);
const { sql } = world;
const truth = stack.use(await openTruth(world));
const follower = stack.use(followStream(sql));
await world.startWorker();
await world.startWorker();
const api = await startFleetProcess('api', { ...world.env, API_PORT: '0' });
stack.defer(() => api.stop());
const countOf = async (query: ReturnType<typeof sql>) => (await query).length;
await until(
  'every game has landed',
  async () => (await countOf(sql`select from games`)) === APPLICATIONS * GAMES,
);
await scheduled(world);

const killer = stack.adopt(openDatabase(world.databaseUrl, { max: 1, applicationName: 'killer' }), (pool) =>
  pool.end({ timeout: 1 }),
);
follower.takeLag();
const loads = startLoads({ world, truth, killer, api: api.address, killMs: Number(values['kill-ms']) });
const report = setInterval(() => say(JSON.stringify(loads.counts)), REPORT_MS);
await new Promise((resolve) => setTimeout(resolve, Number(values.minutes) * 60_000));
clearInterval(report);
await loads.stop();
const lag = follower.takeLag();
say(`quiet now: ${JSON.stringify(loads.counts)}`);

await until(
  'every ping is served',
  async () => (await countOf(sql`select from refresh_requests`)) === 0,
  SETTLE_MS,
);
const violations = await findUnservedPings(sql, truth);
// A game is withdrawn by the second complete listing without it.
for (let run = 0; run < 2; run += 1) {
  await world.quiet();
  await world.startRuns();
  await world.quiet();
}
await until(
  'every event is delivered',
  async () => (await countOf(sql`select from event_deliveries where state = 'pending'`)) === 0,
  SETTLE_MS,
);
violations.push(...(await findViolations(sql, truth)), ...(await follower.findDifferences()));
if (world.crashes() > 0) violations.push(`${world.crashes()} workers ended by themselves`);
if (api.process.exitCode() !== null) violations.push('the API ended by itself');
for (const line of violations) say(`FAIL  ${line}`);
const { kills, decided } = loads.counts;
if (kills === 0 || decided === 0) violations.push('nothing happened');
say(`the stream was read ${lag.p50} ms (p50) and ${lag.p95} ms (p95) late, ${lag.events} events`);
say(
  `${kills} sessions killed, ${decided} decisions, ${truth.received.size} events received, ${violations.length} failed`,
);
process.exitCode = violations.length === 0 ? 0 : 1;
