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

/** A migration after those of this version: a column, an index of a large table, a function. */
const NEXT = {
  when: Date.UTC(2100, 0),
  hash: 'next',
  statements: [
    "alter table games add column probe text not null default ''",
    'drop index concurrently if exists games_probe',
    'create index concurrently games_probe on games (probe)',
    "create or replace function probe() returns text language sql as 'select 1::text'",
    'comment on column games.probe is null',
  ],
};

const open = async ({ databaseUrl, drop }: Awaited<ReturnType<typeof createTestDatabase>>) => {
  const sql = openDatabase(databaseUrl, { max: 8, applicationName: 'migrations test' });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  return { sql, databaseUrl };
};

const createEmpty = async () => {
  const database = await open(await createTestDatabase());
  await database.sql.unsafe('drop schema public cascade; drop schema drizzle cascade; create schema public');
  return database;
};

const createWithGames = async () => {
  const database = await open(await createTestDatabase());
  await addApplication(database.sql, 'acme');
  await addGames(database.sql, 0, 400);
  return database;
};

/** Applies the next migration as `migrate` does. */
const migrateToNext = async (databaseUrl: string, next = NEXT): Promise<void> => {
  const sql = openDatabase(databaseUrl, { max: 1, applicationName: 'catalogue migrate' });
  try {
    await applyMigrations(sql, [...migrations, next]);
  } finally {
    await sql.end({ timeout: 0 });
  }
};

const addGames = (sql: Database, from: number, to: number) =>
  upsertGames(
    sql,
    'acme',
    Array.from({ length: to - from }, (_, n) => fetchedGame({ game_id: `game-${from + n}` }, new Date())),
  );

const expectMigrated = async (sql: Database, given: readonly { when: number }[]): Promise<void> => {
  expect(await readApplied(sql)).toEqual(new Set(given.map(({ when }) => when)));
  expect(await recountGames(sql, { repair: false })).toEqual([]);
  const indexes = await sql`
    select relname from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'games'::regclass and not indisvalid`;
  expect(indexes).toHaveLength(0);
  expect(await sql`select * from drizzle.migration_progress`).toHaveLength(0);
};

const expectNext = async (sql: Database): Promise<void> => {
  await expectMigrated(sql, [...migrations, NEXT]);
  expect(await sql`select from pg_class where relname = 'games_probe'`).toHaveLength(1);
  expect(await sql`select probe()`).toEqual([{ probe: '1' }]);
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

test('three processes can migrate a new database at once', async () => {
  const { sql, databaseUrl } = await createEmpty();
  await Promise.all([1, 2, 3].map(() => migrateDatabase(databaseUrl)));
  await expectMigrated(sql, migrations);
  await addApplication(sql, 'acme');
  await addGames(sql, 0, 100);
  await expectMigrated(sql, migrations);
});

test('a database is migrated while games are written and read', async () => {
  const { sql, databaseUrl } = await createWithGames();
  const stopTraffic = startTraffic(sql);
  await migrateToNext(databaseUrl);
  expect(await stopTraffic()).toEqual([]);
  await expectNext(sql);
});

test('migrations that are interrupted after any message continue where they stopped', async () => {
  const { sql, databaseUrl } = await createWithGames();
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
    const result = await migrateToNext(proxy.through(databaseUrl)).then(
      () => 'done',
      (error) => error.code,
    );
    if (result === 'done') break;
    expect(result).toBe('CONNECTION_CLOSED');
    interrupted += 1;
  }
  expect(interrupted).toBeGreaterThan(15);
  await expectNext(sql);
});

test('an index whose creation was interrupted is created again', async () => {
  const { sql, databaseUrl } = await createWithGames();
  await migrateToNext(databaseUrl, { ...NEXT, statements: NEXT.statements.slice(0, 1) });
  await sql`delete from drizzle.__drizzle_migrations where created_at = ${NEXT.when}`;
  await sql`insert into drizzle.migration_progress values (${NEXT.when}, 1)`;
  await sql`create index games_probe on games (game_id)`;
  await sql`update pg_index set indisvalid = false where indexrelid = 'games_probe'::regclass`;
  await migrateToNext(databaseUrl);
  await expectNext(sql);
});

test('a migration that waits for a table lock lets writers pass, and then retries', async () => {
  const { sql, databaseUrl } = await createWithGames();
  const waiting = async () => {
    const rows = await sql`
      select from pg_locks join pg_stat_activity using (pid)
      where not granted and application_name = 'catalogue migrate' and datname = current_database()`;
    return rows.length;
  };
  const migrated = await sql.begin(async (tx) => {
    await tx`select count(*) from games`;
    const migrating = migrateToNext(databaseUrl);
    await expect.poll(waiting).toBe(1);
    // Queued behind the migration, which gives up its place.
    await addGames(sql, 2_000, 2_001);
    return { migrating };
  });
  await migrated.migrating;
  await expectNext(sql);
});

test('functions in SQL use the locks that db/locks.ts names', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const sql = openDatabase(databaseUrl, { max: 1 });
  const rows = await sql`
    select distinct proname as name, found[1] as lock
    from pg_proc cross join regexp_matches(prosrc, 'advisory_xact_lock\\((\\d+)', 'g') as found
    where pronamespace = 'public'::regnamespace order by 1, 2`;
  await sql.end();
  await drop();
  expect([...rows]).toEqual([
    { name: 'fold_game_counts', lock: String(LOCKS.gameCounts) },
    { name: 'place_events', lock: String(LOCKS.eventPositions) },
    { name: 'place_events', lock: String(LOCKS.streamPositions) },
    { name: 'recount_games', lock: String(LOCKS.gameCounts) },
  ]);
});
