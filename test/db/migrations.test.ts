import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { applyMigrations, readApplied, readMigrations } from '#db/migrations.ts';
import { recountGames } from '#db/queries/api-games.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';

const migrations = await readMigrations();
const WORKS = { triggers: true, games: 400 };

/** Where a database of an earlier version may stand: its last migration, and whether its triggers were installed. */
const STARTS = [
  ['is new', -1, false],
  ['is at 0000', 0, true],
  ['is at 0000, killed before its triggers were installed', 0, false],
  ['is at 0001', 1, true],
  ['is at 0002', 2, true],
  ['is at 0003', 3, true],
  ['is at 0003, killed before its triggers were installed', 3, false],
] as const;

const withoutProgress = 'drop table if exists drizzle.migration_progress';

/** A database as an earlier version left it, with games that were written before the triggers and after. */
const createReleased = async (last: number, { triggers, games } = WORKS) => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 8, applicationName: 'migrations test' });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  await sql.unsafe('drop schema public cascade; drop schema drizzle cascade; create schema public');
  if (last < 0) return { sql, databaseUrl };
  await migrateTo(last, databaseUrl);
  await sql.unsafe(withoutProgress);
  await addApplication(sql, 'acme');
  await addGames(sql, 0, games / 2);
  const file = `./released/game-counts-${last === 0 ? '0000' : '0003'}.sql`;
  if (triggers) await sql.unsafe(await readFile(new URL(file, import.meta.url), 'utf8'));
  await addGames(sql, games / 2, games);
  return { sql, databaseUrl };
};

const migrateTo = async (last: number, databaseUrl: string): Promise<void> => {
  const sql = openDatabase(databaseUrl, { max: 1 });
  await applyMigrations(sql, migrations.slice(0, last + 1));
  await sql.end();
};

const addGames = (sql: Database, from: number, to: number) =>
  upsertGames(
    sql,
    'acme',
    Array.from({ length: to - from }, (_, n) => fetchedGame({ game_id: `game-${from + n}` }, new Date())),
  );

const expectCurrent = async (sql: Database): Promise<void> => {
  expect(await readApplied(sql)).toEqual(new Set(migrations.map(({ when }) => when)));
  expect(await recountGames(sql, { repair: false })).toEqual([]);
  const counts = await sql`
    select sum(games)::int as games from (
      select games from game_counts where application_id = '' and level = 0
      union all select games from game_count_changes) counted`;
  const games = await sql`select nullif(count(*), 0)::int as games from games where withdrawn_at is null`;
  expect([...counts]).toEqual([...games]);
  const indexes = await sql`
    select relname from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'games'::regclass and indisvalid order by 1`;
  expect(indexes.map(({ relname }) => relname)).toEqual([
    'games_application_game',
    'games_pages',
    'games_pages_application',
    'games_pkey',
    'games_withdrawn',
  ]);
  expect(await sql`select * from drizzle.migration_progress`).toHaveLength(0);
};

/** Four writers and one reader, until the function that it returns is called. That returns their errors. */
const startTraffic = (sql: Database): (() => Promise<unknown[]>) => {
  let running = true;
  const errors: unknown[] = [];
  // Also when the test fails: after `sql.end()` every statement fails at once, and the loop would fill the memory.
  onTestFinished(() => {
    running = false;
  });
  const repeat = async (work: (round: number) => Promise<unknown>): Promise<void> => {
    for (let round = 0; running; round += 1) await work(round).catch((error) => errors.push(error));
  };
  const write = (writer: number) => async (round: number) => {
    const changed = Array.from({ length: 20 }, (_, n) => {
      const id = `game-${(writer * 97 + round * 13 + n) % 600}`;
      return fetchedGame({ game_id: id }, new Date(), { content_hash: `${writer}-${round}` });
    });
    await sql.begin((tx) => upsertGames(tx, 'acme', changed));
    await sql`
      update games set withdrawn_at = case when withdrawn_at is null then now() end
      where application_game_id = ${`game-${(writer + round) % 400}`}`;
  };
  const read = () =>
    sql.begin(async (tx) => {
      await tx`select count(*) from game_counts`;
      await tx`select count(*) from games`;
    });
  const all = Promise.all([1, 2, 3, 4].map((writer) => repeat(write(writer))).concat(repeat(read)));
  return async () => {
    running = false;
    await all;
    return errors;
  };
};

test.each(STARTS)(
  'a database that %s is brought up to date while games are written',
  async (_, last, triggers) => {
    const { sql, databaseUrl } = await createReleased(last, { ...WORKS, triggers });
    const stopTraffic = last < 0 ? async () => [] : startTraffic(sql);
    await migrateDatabase(databaseUrl);
    expect(await stopTraffic()).toEqual([]);
    await expectCurrent(sql);
    if (last < 0) await addApplication(sql, 'acme');
    await addGames(sql, 1_000, 1_100);
    await expectCurrent(sql);
  },
);

test('a database that has the triggers is not counted again, and its writers are not locked out', async () => {
  const { sql, databaseUrl } = await createReleased(3);
  await sql`update game_counts set games = games + 5 where application_id = '' and level = 0`;
  await sql.begin(async (tx) => {
    await upsertGames(tx, 'acme', [fetchedGame({ game_id: 'open' }, new Date())]);
    // Later migrations may lock the table for a moment.
    await migrateTo(4, databaseUrl);
  });
  expect(await recountGames(sql, { repair: false })).toMatchObject([{ application_id: '', games_off: -5 }]);
});

test('migrations that are interrupted after any message continue where they stopped', async () => {
  const { sql, databaseUrl } = await createReleased(0);
  await using proxy = await startProxy(() => Number(new URL(databaseUrl).port));
  /** Ends every session at the message of this number; the first is the one that looks for the schema. */
  const cutAt = (number: number): void => {
    let sent = 0;
    proxy.watch({
      request: (chunk) => {
        if (sent > 0 || chunk.includes('create schema if not exists drizzle')) sent += 1;
        if (sent !== number) return 'pass';
        setImmediate(() => proxy.cut());
        return 'cut';
      },
    });
  };
  let interrupted = 0;
  for (let number = 1; ; number += 1) {
    cutAt(number);
    const result = await migrateDatabase(proxy.through(databaseUrl)).then(
      () => 'done',
      (error) => error.code,
    );
    if (result === 'done') break;
    expect(result).toBe('CONNECTION_CLOSED');
    interrupted += 1;
  }
  expect(interrupted).toBeGreaterThan(20);
  await expectCurrent(sql);
});

test('an index whose creation was interrupted is created again', async () => {
  const { sql, databaseUrl } = await createReleased(2);
  await sql`create index games_pages on games (game_id)`;
  await sql`update pg_index set indisvalid = false where indexrelid = 'games_pages'::regclass`;
  await migrateDatabase(databaseUrl);
  await expectCurrent(sql);
});

test('three processes can migrate at once', async () => {
  const { sql, databaseUrl } = await createReleased(2);
  await Promise.all([1, 2, 3].map(() => migrateDatabase(databaseUrl)));
  await expectCurrent(sql);
});

test('a migration that waits for a table lock lets writers pass, and then retries', async () => {
  const { sql, databaseUrl } = await createReleased(0);
  const waiting = async () => {
    const rows = await sql`
      select from pg_locks join pg_stat_activity using (pid)
      where not granted and application_name = 'catalogue migrate' and datname = current_database()`;
    return rows.length;
  };
  const migrated = await sql.begin(async (tx) => {
    await tx`select count(*) from games`;
    const migrating = migrateDatabase(databaseUrl);
    await expect.poll(waiting).toBe(1);
    // Queued behind the migration, which gives up its place.
    await addGames(sql, 2_000, 2_001);
    return { migrating };
  });
  await migrated.migrating;
  await expectCurrent(sql);
});

test('functions in SQL use the lock that db/locks.ts names', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 1 });
  const rows = await sql`
    select proname as name, regexp_substr(prosrc, '(?<=advisory_xact_lock\\()\\d+') as lock
    from pg_proc where pronamespace = 'public'::regnamespace and prosrc like '%advisory%' order by 1`;
  await sql.end();
  await drop();
  expect([...rows]).toEqual([
    { name: 'fold_game_counts', lock: String(LOCKS.gameCounts) },
    { name: 'recount_games', lock: String(LOCKS.gameCounts) },
  ]);
});
