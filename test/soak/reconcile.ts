// What the reconciler costs a large fleet, on Redis: node test/soak/reconcile.ts [applications]
import { Writable } from 'node:stream';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { FIRST_SCHEDULE } from '#src/ingest/schedules.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';

const count = Number(process.argv[2] ?? 100_000);
await using stack = new AsyncDisposableStack();
const postgres = stack.use(await startTemporaryPostgres());
const server = stack.use(await startRedisServer());
const redis = stack.adopt(new Redis(server.url), (client) => client.disconnect());
await migrateDatabase(postgres.databaseUrl);
const sql = stack.adopt(openDatabase(postgres.databaseUrl, { max: 1 }), (pool) => pool.end());
await sql`
  insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
    query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate)
  select 'app-' || n, 'App', 'https://a.example', 'https://a.example', 'https://a.example', 900000, 86400000, 86400000, 8, 50
  from generate_series(1, ${count}::int) n`;
await using foundation = openFoundation(
  { redisUrl: server.url, queuePrefix: '{catalogue}' },
  postgres.databaseUrl,
  { use: 'producer', name: 'reconcile', maxConnections: 20, logger: pino({ level: 'silent' }) },
);

/** Seconds of CPU that Redis has used. */
const redisCpu = async (): Promise<number> => {
  const info = await redis.info('cpu');
  const field = (name: string) => Number(new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]);
  return field('used_cpu_user') + field('used_cpu_sys');
};

const one = (value: number) => value.toFixed(1);

/** Runs passes until every scheduler was looked up, and prints the cost of each. */
const measure = async (what: string): Promise<void> => {
  let from = FIRST_SCHEDULE;
  for (let pass = 1; pass === 1 || from !== FIRST_SCHEDULE; pass += 1) {
    const lines: Record<string, unknown>[] = [];
    const sink = new Writable({ write: (line, _encoding, done) => done(void lines.push(JSON.parse(line))) });
    const [began, cpu, cpuOfRedis] = [performance.now(), process.cpuUsage(), await redisCpu()];
    const context = { ...foundation, logger: pino({ base: null }, sink) };
    from = await reconcile(context, new AbortController().signal, { from });
    const { user, system } = process.cpuUsage(cpu);
    const cost = [
      `${one((performance.now() - began) / 1_000)} s`,
      `${one((await redisCpu()) - cpuOfRedis)} s of Redis CPU`,
      `${one((user + system) / 1e6)} s of the worker's`,
    ];
    const { set = 0, recovered = 0 } = lines.at(-1) ?? {};
    process.stdout.write(`${what}, pass ${pass}: ${cost.join(', ')}; ${set} set, ${recovered} recovered\n`);
  }
};

const key = (queue: string, part: string): string => `{catalogue}:${queue}:${part}`;

/** Makes every tick an hour late, and loses the jobs that were to run it. */
const loseTicks = async (): Promise<void> => {
  await redis.eval(
    `for _, id in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do redis.call('zincrby', KEYS[1], -90000000, id) end
     for _, id in ipairs(redis.call('zrange', KEYS[2], 0, -1)) do redis.call('del', ARGV[1] .. id) end
     redis.call('del', KEYS[2])`,
    2,
    key('tick', 'repeat'),
    key('tick', 'delayed'),
    key('tick', ''),
  );
};

/** Lose the first of the waiting jobs of runs. */
const loseJobs = async (lost: number): Promise<void> => {
  await redis.eval(
    `for _, id in ipairs(redis.call('lpop', KEYS[1], ARGV[2])) do redis.call('del', ARGV[1] .. id) end`,
    1,
    key('query-game-list', 'wait'),
    key('query-game-list', ''),
    lost,
  );
};

/** An open run has made no progress for this long. */
const idle = () => sql`update sync_runs set progress_at = now() - interval '10 minutes'`;

await measure('every schedule gone');
await measure('nothing to do');
await sql`update applications set every_ms = 1800000 where application_id in (select application_id from applications limit 1000)`;
await sql`update applications set status = 'paused' where application_id like 'app-99%'`;
await measure('a thousand schedules changed, a hundredth paused');
await loseTicks();
await measure('every tick late and lost');
await sql`
  insert into sync_runs (run_id, application_id, trigger, "full", accept_withdrawals)
  select uuidv7(), application_id, 'schedule', false, false from applications`;
await idle();
await measure('every run lost');
await loseJobs(count / 2);
await loseTicks();
await idle();
await measure('half of the runs and every tick lost');
