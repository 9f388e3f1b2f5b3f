import postgres from 'postgres';
import { ARRAY_TYPES } from '#db/array-types.ts';
import { guardTransactions } from '#db/transactions.ts';

/** A pool of connections to Postgres. */
export type Database = postgres.Sql;
/** The pool, or one transaction of it: what a query function takes. */
export type Queryable = postgres.Sql | postgres.TransactionSql;

/** Postgres ends a transaction that is idle for this time: its process is stopped or its machine is gone. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * Opens a pool. It connects at the first statement; a statement that cannot reach the server within ten seconds
 * rejects. Queries are SQL through postgres.js. Drizzle defines the schema, its types and the migrations; no process
 * loads it.
 *
 * @param options.planOnce plans a statement once per connection, for any parameters, and with indexes: for frequent
 * statements that find rows by a key, whose planning costs more than their execution
 * @param options.keepOpen never closes an idle connection: for a session that has a lock
 */
export const openDatabase = (
  databaseUrl: string,
  options: { max?: number; applicationName?: string; planOnce?: boolean; keepOpen?: boolean } = {},
): Database =>
  guardTransactions(
    postgres(databaseUrl, {
      max: options.max ?? 10,
      connect_timeout: 10,
      ...(options.keepOpen ? { idle_timeout: 0, max_lifetime: 0 } : { idle_timeout: 60 }),
      onnotice: () => {},
      fetch_types: false,
      types: {
        ...ARRAY_TYPES,
        // Durations in milliseconds and counts: all below 2^53.
        bigint: { to: 20, from: [20], parse: Number, serialize: String },
      },
      connection: {
        // The formats that the driver parses, whatever the defaults of the server, the database or the role.
        DateStyle: 'ISO, MDY',
        bytea_output: 'hex',
        application_name: options.applicationName ?? 'catalogue',
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        // Compilation costs 20 ms or more per statement. Postgres overestimates statements that stop after one page.
        jit: 'off',
        // A generic plan made while a table is empty would use a sequential scan until the table is analyzed.
        ...(options.planOnce && { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' }),
      },
    }) as unknown as Database,
  );

/**
 * Reads Postgres's clock once and continues it with this process's monotonic clock: the clocks of workers differ, and
 * these times are compared with rows that other workers wrote.
 */
export const readClock = async (sql: Queryable): Promise<() => Date> => {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return clockFrom(row?.now ?? new Date());
};

/** The clock that `readClock` returns, from a `clock_timestamp()` that was read just now. */
export const clockFrom = (now: Date): (() => Date) => {
  const from = performance.now();
  return () => new Date(now.getTime() + performance.now() - from);
};
