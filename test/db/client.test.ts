import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import postgres from 'postgres';
import { expect, it } from 'vitest';
import { ARRAY_TYPES } from '#db/array-types.ts';
import { type Database, openDatabase, STATEMENT_MS } from '#db/client.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('a pool closes idle connections, but not a connection that has a lock', async () => {
  // No connection is made before the first statement.
  const url = 'postgres://127.0.0.1:9/nowhere';
  const [pool, lock] = [openDatabase(url), openDatabase(url, { keepOpen: true })];
  expect(pool.options).toMatchObject({ idle_timeout: 60, max_lifetime: expect.anything() });
  expect(lock.options).toMatchObject({ idle_timeout: 0, max_lifetime: 0 });
  await Promise.all([pool.end(), lock.end()]);
});

it('a transaction that begins behind any number of statements has its connection alone', async () => {
  const pool = openDatabase(database.databaseUrl, { max: 2 });
  const onBoth = (ms: number) => [1, 2].map(() => pool`select pg_sleep(${ms / 1_000})`);
  await Promise.all(onBoth(50));
  // Two connections, and 100 statements in the pipeline of each: the driver's default.
  for (const before of [197, 198, 199, 200]) {
    const statements = [...onBoth(100), ...Array.from({ length: before }, () => pool`select 1`)];
    for (const statement of statements) statement.execute();
    const begun = pool.begin((tx) => tx`select 1`);
    await expect(Promise.all([...statements, begun])).resolves.toHaveLength(before + 3);
  }
  await pool.end();
});

it('no session compiles its statements', async () => {
  expect([...(await database.sql`show jit`)]).toEqual([{ jit: 'off' }]);
});

it('a session has limits, hours and an isolation of ours, under any defaults of the database', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const admin = openDatabase(databaseUrl, { max: 1 });
  const name = admin(new URL(databaseUrl).pathname.slice(1));
  await admin`alter database ${name} set timezone = 'Asia/Kolkata'`;
  await admin`alter database ${name} set default_transaction_isolation = 'serializable'`;
  await admin`alter database ${name} set lock_timeout = '1ms'`;
  await admin`alter database ${name} set statement_timeout = '1h'`;
  await admin`alter database ${name} set idle_session_timeout = '1h'`;
  await admin.end();
  const sql = openDatabase(databaseUrl, { max: 1, statementMs: STATEMENT_MS.none });
  const shown = await sql`
    select current_setting('TimeZone') as zone, current_setting('transaction_isolation') as isolation,
           current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
           current_setting('idle_session_timeout') as idle`;
  expect([...shown]).toEqual([
    { zone: 'UTC', isolation: 'read committed', lock: '0', statement: '0', idle: '0' },
  ]);
  await sql.end();
  await drop();
});

it('times and bytes are read as they were written, under any defaults of the database', async () => {
  const { databaseUrl, drop } = await createTestDatabase();
  const admin = openDatabase(databaseUrl, { max: 1 });
  const name = new URL(databaseUrl).pathname.slice(1);
  await admin`alter database ${admin(name)} set datestyle = 'SQL, DMY'`;
  await admin`alter database ${admin(name)} set bytea_output = 'escape'`;
  await admin.end();
  const sql = openDatabase(databaseUrl, { max: 1 });
  const [at, bytes] = [new Date('2026-11-03T04:05:06.789Z'), Buffer.from([0, 92, 200, 65])];
  const [row] = await sql`select ${at}::timestamptz as at, ${bytes}::bytea as bytes`;
  expect({ ...row, bytes: Buffer.from(row?.bytes) }).toEqual({ at, bytes });
  await sql.end();
  await drop();
});

const NASTY = [
  '',
  ' ',
  'NULL',
  'null',
  'a,b',
  '{}',
  '{a}',
  '"',
  '\\',
  '\\"',
  "'",
  'line\nbreak',
  '\t',
  '游戏🎮',
  '}',
];

const UUIDS = [randomUUID(), randomUUID()];

it('arrays are written and read as by the driver that looks the array types up', async () => {
  const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };
  const reference = postgres(database.databaseUrl, { max: 1, types }) as unknown as Database;
  await reference`select 1`;
  const read = async (sql: Database) => {
    const [row] = await sql`
      select ${NASTY}::text[] as texts, ${[NASTY, NASTY]}::text[][] as nested, ${[]}::text[] as none,
        '{}'::text[] as empty, ${'{"a","b"}'}::text[] as literal, ${[1, -2]}::integer[] as integers,
        ${[1, 2 ** 50]}::bigint[] as bigints,
        ${UUIDS}::uuid[] as uuids,
        ${['2026-11-03T04:05:06.789Z']}::timestamptz[] as times,
        array_remove(array['a', null], null) as removed`;
    return row;
  };
  const row = await read(database.sql);
  expect(row).toEqual(await read(reference));
  expect(row).toMatchObject({ texts: NASTY, nested: [NASTY, NASTY], none: [], bigints: [1, 2 ** 50] });
  expect(row?.times).toEqual([new Date('2026-11-03T04:05:06.789Z')]);
  await reference.end();
});

it('null in an array is written and read as null', async () => {
  const [row] = await database.sql`select ${['a', null, 'b']}::text[] as texts`;
  expect(row).toEqual({ texts: ['a', null, 'b'] });
});

it('the array types of all columns and of all casts in queries are known to the driver', async () => {
  const folder = new URL('../../db/queries/', import.meta.url);
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(new URL(name, folder), 'utf8')),
  );
  const casts = files.flatMap((text) => [...text.matchAll(/::(\w+)\[\]/g)].map(([, type]) => `${type}[]`));
  const rows = await database.sql<{ oid: number }[]>`
    select unnest(${casts}::text[])::regtype::oid::int as oid
    union select atttypid::int from pg_attribute join pg_type on pg_type.oid = atttypid
      join pg_class on pg_class.oid = attrelid
    where typcategory = 'A' and relnamespace = 'public'::regnamespace and attnum > 0`;
  const known = Object.values(ARRAY_TYPES).map(({ to }) => to);
  expect(rows.length).toBeGreaterThan(3);
  expect(known).toEqual(expect.arrayContaining(rows.map(({ oid }) => oid)));
});

/** A new pool of one connection, by way of a proxy in front of the server. */
const openThrough = (proxy: { through: (url: string) => string }): Database =>
  openDatabase(proxy.through(database.databaseUrl), { max: 1 });
const openProxy = () => startProxy(() => Number(new URL(database.databaseUrl).port));
const codeOf = (work: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(work).then(
    () => 'done',
    (error) => error.code,
  );

it('a hundred new connections that break in their first round trip reject their statement and nothing else', async () => {
  await using proxy = await openProxy();
  // Three messages authenticate the connection.
  const count = (memory: Record<string, unknown>): number => {
    memory.sent = Number(memory.sent ?? 0) + 1;
    return Number(memory.sent);
  };
  proxy.watch({ request: (_, memory) => (count(memory) === 4 ? 'cut' : 'pass') });
  for (let connection = 0; connection < 100; connection += 1) {
    const sql = openThrough(proxy);
    expect(await codeOf(sql`select 1`)).toBe('CONNECTION_CLOSED');
    await sql.end({ timeout: 0 });
  }
});

it('a transaction returns what its work returns: a result with its count, or the results of a list', async () => {
  const one = await database.sql.begin((tx) => tx`select 1 as value`);
  expect(one).toMatchObject({ count: 1, 0: { value: 1 } });
  const both = await database.sql.begin((tx) => [tx`select 1 as value`, tx`select 2 as value`]);
  expect(both.map(([row]) => row?.value)).toEqual([1, 2]);
});

it.each([
  ['during a statement', 'cut'],
  ['between two statements', 'between'],
  ['before the commit', 'commit'],
] as const)(
  'a transaction whose connection closes %s rejects, and the pool connects again',
  async (_, when) => {
    await using proxy = await openProxy();
    const sql = openThrough(proxy);
    proxy.watch({ request: (chunk) => (when === 'cut' && chunk.includes('pg_sleep') ? 'cut' : 'pass') });
    let afterwards: string | undefined;
    const transaction = sql.begin(async (tx) => {
      await tx`select pg_sleep(0)`;
      const closed = codeOf(transaction);
      proxy.cut();
      await closed;
      if (when === 'between') afterwards = await codeOf((async () => tx`select 1`)());
    });
    expect(await codeOf(transaction)).toBe('CONNECTION_CLOSED');
    if (when === 'between') await expect.poll(() => afterwards).toBe('CONNECTION_CLOSED');
    proxy.restore();
    expect([...(await sql`select 1 as value`)]).toEqual([{ value: 1 }]);
    await sql.end({ timeout: 0 });
  },
);
