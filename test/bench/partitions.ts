// What hash partitions by application gain and cost: node test/bench/partitions.ts [games] [partitions]. Two tables with
// the columns and indexes of `games`, one of them partitioned; each measure runs on both in turn. See docs/performance.md.
import { randomUUID } from 'node:crypto';
import { openDatabase } from '#db/client.ts';
import { say } from '#test/bench/api-database.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';
import { startServers } from '#test/bench/servers.ts';

const games = Number(process.argv[2] ?? 3_000_000);
const partitions = Number(process.argv[3] ?? 64);
const APPLICATIONS = 300;
const BATCH = 100;
const TABLES = ['whole', 'parted'] as const;

await using servers = await startServers();
await using database = await servers.createDatabase();
const sql = openDatabase(database.databaseUrl, { max: 1, statementMs: 0 });

const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
  const from = performance.now();
  await work();
  say(`${what.padEnd(52)} ${((performance.now() - from) / 1_000).toFixed(1).padStart(8)} s`);
};

await sql`create table whole (like games including defaults)`;
await sql`create table parted (like games including defaults) partition by hash (application_id)`;
for (let part = 0; part < partitions; part += 1)
  await sql.unsafe(
    `create table parted_${part} partition of parted for values with (modulus ${partitions}, remainder ${part})`,
  );

const rows = (table: string) =>
  sql.unsafe(`
    insert into ${table} (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
      game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
    select gen_random_uuid(), 'app-' || i % ${APPLICATIONS}, 'g-' || i, 'The Lightkeeper ' || i, '{https://cdn.example/i}',
      repeat('Restore the lighthouses of a drowned coast. ', 8), '', '{https://cdn.example/1,https://cdn.example/2}',
      md5(i::text), md5((-i)::text), now()
    from generate_series(1, ${games}) as i`);

say(`${games.toLocaleString('en')} games of ${APPLICATIONS} applications, ${partitions} partitions`);
for (const table of TABLES) await timed(`${table}: load`, () => rows(table));
for (const table of TABLES) {
  await timed(`${table}: unique index by application`, () =>
    sql.unsafe(`create unique index ${table}_ids on ${table} (application_id, application_game_id)`),
  );
  await timed(`${table}: index of pages`, () =>
    sql.unsafe(`
      create index ${table}_pages on ${table} (audit_status, game_id, game_name, audit_time)
      where withdrawn_at is null`),
  );
  await sql.unsafe(`analyze ${table}`);
}
say(MEASURE_HEAD);
const statements: Record<string, (table: string, round: number) => Promise<unknown>> = {
  'a batch of 100 games is updated': (table, round) => {
    const from =
      (round * BATCH * APPLICATIONS) % (Math.floor(games / APPLICATIONS / BATCH) * BATCH * APPLICATIONS);
    return sql.unsafe(
      `update ${table} set fetched_at = now(), list_hash = '' where application_id = $1 and application_game_id = any($2)`,
      ['app-7', Array.from({ length: BATCH }, (_, each) => `g-${from + each * APPLICATIONS + 7}`)],
      { prepare: true },
    );
  },
  'a page over all applications': (table) =>
    sql.unsafe(
      `select game_id, game_name, audit_time from ${table} where audit_status = $1 and withdrawn_at is null
       and game_id > $2 order by game_id limit 100`,
      ['pending', randomUUID()],
      { prepare: true },
    ),
};
for (const [what, run] of Object.entries(statements))
  for (const table of TABLES) await measure(`${table}: ${what}`, (round) => run(table, round));
for (const table of TABLES) {
  await sql.unsafe(`delete from ${table} where application_id in ('app-1', 'app-2', 'app-3')`);
  await timed(`${table}: vacuum after 3 of ${APPLICATIONS} applications`, () =>
    sql.unsafe(`vacuum ${table}`),
  );
}
await sql.end();
