// How long one pass of the reconciler takes over many applications, on Redis: node test/soak/reconcile.ts [N]
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { openFoundation } from '#src/roles/foundation.ts';
import { startRedisServer } from '#test/fleet/redis-server.ts';

const count = Number(process.argv[2] ?? 100_000);
const home = await mkdtemp(join(tmpdir(), `catalogue-reconcile-${randomBytes(2).toString('hex')}`));
await using stack = new AsyncDisposableStack();
stack.defer(() => rm(home, { recursive: true, force: true }));
const postgres = await startEmbeddedPostgres({ home, settings: { fsync: 'off' } });
stack.defer(() => postgres.stop());
const server = stack.use(await startRedisServer());
await migrateDatabase(postgres.databaseUrl);
const sql = openDatabase(postgres.databaseUrl, { max: 1 });
await sql`
  insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
    query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate)
  select 'app-' || n, 'App', 'https://a.example', 'https://a.example', 'https://a.example', 900000, 86400000, 86400000, 8, 50
  from generate_series(1, ${count}::int) n`;
await using foundation = openFoundation(
  { redisUrl: server.url, queuePrefix: '{catalogue}' },
  postgres.databaseUrl,
  {
    role: 'worker',
    name: 'reconcile',
    maxConnections: 4,
    logger: pino({ level: 'silent' }),
  },
);
const pass = async (what: string) => {
  const from = performance.now();
  const cpu = process.cpuUsage();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  await reconcile({ ...foundation, logger: pino({ level: 'silent' }) }, new AbortController().signal);
  clearInterval(watch);
  const used = process.cpuUsage(cpu);
  process.stdout.write(
    `${what}: ${((performance.now() - from) / 1_000).toFixed(1)} s, ${((used.user + used.system) / 1e6).toFixed(1)} s of CPU, at most ${Math.round(peak / 1e6)} MB\n`,
  );
};
await pass(`${count} applications, none scheduled`);
await pass('all scheduled, nothing to do');
await sql`update applications set every_ms = 1800000 where application_id in (select application_id from applications limit 1000)`;
await sql`update applications set status = 'paused' where application_id like 'app-99%'`;
await pass('a thousand changed, a hundredth paused');
await sql.end();
