import postgres from 'postgres';

/** A pool of connections to the catalogue's Postgres. */
export type Database = postgres.Sql;
/** The pool, or one transaction of it: what a query function takes. */
export type Queryable = postgres.Sql | postgres.TransactionSql;

/**
 * A session that holds a transaction and says nothing is ended by Postgres after this time: its process is
 * stopped, or its machine gone, and the rows it locked are wanted.
 */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * Open a pool. Connections are made when first used; a statement that can't reach the server within ten
 * seconds rejects. Queries are written in SQL with postgres.js: drizzle owns the schema, its types and the
 * migrations, and is never loaded by a running role.
 * @param options.planOnce plan a statement once a connection, whatever its parameters, and by an index: for few
 * statements that are asked very often, where planning costs more than running, and reading what is found by a key
 * @param options.keepOpen close no connection before the pool is closed, however long it has nothing to do: for a
 * session that holds a lock
 */
export const openDatabase = (
  databaseUrl: string,
  options: { max?: number; applicationName?: string; planOnce?: boolean; keepOpen?: boolean } = {},
): Database =>
  postgres(databaseUrl, {
    max: options.max ?? 10,
    connect_timeout: 10,
    ...(options.keepOpen ? { idle_timeout: 0, max_lifetime: 0 } : { idle_timeout: 60 }),
    onnotice: () => {},
    // Spans in milliseconds and counts: all far below 2^53.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      // As the driver reads them, whatever the server, the database or the role has for a default.
      DateStyle: 'ISO, MDY',
      bytea_output: 'hex',
      application_name: options.applicationName ?? 'catalogue',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      // Compiling one of our statements takes 20 ms and more, running it none: Postgres believes a plan that stops
      // after a page of rows to cost a tenth of reading all games.
      jit: 'off',
      // A plan made while a table was empty would read all of it, until it is analyzed.
      ...(options.planOnce && { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' }),
    },
  });

/**
 * Postgres's clock, read once and carried on by this process's monotonic one: workers' own clocks disagree, and
 * what is compared with rows of other workers must not be told by them.
 */
export const readClock = async (sql: Queryable): Promise<() => Date> => {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return clockFrom(row?.now ?? new Date());
};

/** The clock that `readClock` returns, from a `clock_timestamp()` that has just been read. */
export const clockFrom = (now: Date): (() => Date) => {
  const from = performance.now();
  return () => new Date(now.getTime() + performance.now() - from);
};
