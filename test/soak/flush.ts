// Flush Redis in the middle of a run of many games, with production's waits: node test/soak/flush.ts [games]
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { PRODUCTION } from '#test/fleet/worker.ts';
import { openWorld } from '#test/fleet/world.ts';

const games = Number(process.argv[2] ?? 20_000);
const home = await mkdtemp(join(tmpdir(), `catalogue-flush-${randomBytes(2).toString('hex')}`));
await using stack = new AsyncDisposableStack();
stack.defer(() => rm(home, { recursive: true, force: true }));
const postgres = await startEmbeddedPostgres({ home, settings: { fsync: 'off' } });
stack.defer(() => postgres.stop());
const admin = openDatabase(postgres.databaseUrl, { max: 1 });
await admin`create database flush_template`;
await admin.end();
await migrateDatabase(Object.assign(new URL(postgres.databaseUrl), { pathname: 'flush_template' }).href);
await using world = await openWorld(
  {
    adminUrl: postgres.databaseUrl,
    template: 'template flush_template',
    postgresPort: () => Number(new URL(postgres.databaseUrl).port),
  },
  { applications: 1, games },
);
await world.startWorker({ timing: PRODUCTION });
await world.startWorker({ timing: PRODUCTION });
await world.startRuns();
const landed = async () => {
  const [row] = await world.sql<{ count: number }[]>`select count(*)::int as count from games`;
  return row?.count ?? 0;
};
const started = performance.now();
while ((await landed()) < games / 2) await sleep(20);
await world.queue.flush();
const flushed = performance.now();
const at = await landed();
await world.quiet(180_000);
const seconds = (from: number) => ((performance.now() - from) / 1_000).toFixed(1);
const [run] =
  await world.sql`select outcome, fence, listed, inserted, updated, unchanged, failed from sync_runs`;
const [revisions] = await world.sql`select count(*)::int as count from game_revisions`;
process.stdout.write(
  `${at} games had landed after ${((flushed - started) / 1_000).toFixed(1)} s, then Redis was flushed. ` +
    `${await landed()} of ${games} have landed ${seconds(flushed)} s after the flush, in ${revisions?.count} revisions; ` +
    `the run: ${JSON.stringify(run)}; most calls for one: ${JSON.stringify(world.mostCalls())}\n`,
);
process.exitCode = (await landed()) === games && revisions?.count === games ? 0 : 1;
