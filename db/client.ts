import postgres from 'postgres';
import { ARRAY_TYPES } from '#db/array-types.ts';
import { readTimestamp } from '#db/read-timestamp.ts';
import { onlyValue } from '#db/rows.ts';
import { guardTransactions } from '#db/transactions.ts';

/** A pool of connections to Postgres. `begin` resolves to what `work` returns, because the driver's type is less exact. */
export type Database = {
  begin<Result>(work: (tx: postgres.TransactionSql) => Promise<Result>): Promise<Result>;
  begin<Result>(options: string, work: (tx: postgres.TransactionSql) => Promise<Result>): Promise<Result>;
} & postgres.Sql;
/** The pool, or one transaction of it. Every query function takes either. */
export type Queryable = postgres.Sql | postgres.TransactionSql;

/** Postgres cancels a statement that takes longer, so that no statement occupies a connection for good. */
export const STATEMENT_MS = {
  /** The limit of workers, pages and metrics. Statements on millions of games have their own (`allowLongStatements`). */
  default: 60_000,
  /** The limit of the API. Its own deadline is shorter, so it answers the caller first. */
  api: 10_000,
  /** The end of a run, accepted withdrawals; commands, of which one recounts all games. */
  long: 10 * 60_000,
  /** For migrations, because an index of a large table takes hours. */
  none: 0,
};

/** Postgres ends a transaction that is idle for this time, because its process is stopped or its machine is gone. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** The limits of a session, as texts, because the driver does not send the number 0, though its types have numbers. */
const limitsOf = (statementMs: number): object => ({
  statement_timeout: String(statementMs),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
  lock_timeout: '0',
  idle_session_timeout: '0',
});

/**
 * The driver does not reserve a connection whose pipeline a BEGIN fills. The transaction then fails and stays open, and
 * other statements run in it (porsager/postgres#1189). So no pipeline is ever full. The driver's types lack the option.
 */
const PIPELINE = { max_pipeline: 1_000_000_000 };

/** The tables are in `public`. Temporary tables come last, or one could hide a table of ours. */
const SEARCH_PATH = 'public, pg_temp';

/**
 * Removes the URL's own `search_path`, in any case of letters, because the driver sends it after ours. One in `options`
 * needs no care, because Postgres applies `options` before the parameters of the connection.
 */
const withoutSearchPath = (databaseUrl: string): string => {
  const url = new URL(databaseUrl);
  const names = [...url.searchParams.keys()].filter((name) => name.toLowerCase() === 'search_path');
  if (names.length === 0) return databaseUrl;
  for (const name of names) url.searchParams.delete(name);
  return url.href;
};

/**
 * Opens a pool. It connects at the first statement; a statement that cannot reach the server within ten seconds rejects.
 * Queries are SQL through postgres.js. Drizzle defines the schema, its types and the migrations; no process loads it.
 *
 * @param options.planOnce plans a statement once per connection, for any parameters, and with indexes, for frequent
 * statements that find rows by a key, whose planning costs more than their execution
 * @param options.giveUpS for probes: a statement that cannot reach the server rejects after this time in seconds, and the
 * next one connects at once. Otherwise the driver waits ever longer between attempts, up to 20 s, and says nothing
 * meanwhile
 * @param options.keepOpen never closes an idle connection, for a session that has a lock
 * @param options.statementMs one of `STATEMENT_MS`
 */
export const openDatabase = (
  databaseUrl: string,
  options: {
    max?: number;
    applicationName?: string;
    planOnce?: boolean;
    giveUpS?: number | undefined;
    keepOpen?: boolean;
    statementMs?: number;
  } = {},
): Database =>
  guardTransactions(
    postgres(withoutSearchPath(databaseUrl), {
      ...PIPELINE,
      max: options.max ?? 10,
      connect_timeout: options.giveUpS ?? 10,
      ...(options.giveUpS !== undefined && { backoff: () => 0 }),
      ...(options.keepOpen ? { idle_timeout: 0, max_lifetime: 0 } : { idle_timeout: 60 }),
      onnotice: () => {},
      fetch_types: false,
      types: {
        ...ARRAY_TYPES,
        // A text stays as it is, because it may have microseconds, or be an infinity.
        date: {
          to: 1184,
          from: [1082, 1114, 1184],
          serialize: (time: Date | string) => (time instanceof Date ? time.toISOString() : time),
          parse: readTimestamp,
        },
        // Durations in milliseconds and counts: all below 2^53.
        bigint: { to: 20, from: [20], parse: Number, serialize: String },
      },
      connection: {
        // Independent of the defaults of the server, the database and the role: the formats that the driver parses, the
        // hours and days of figures, and what statements of ours expect of a transaction and of a lock.
        DateStyle: 'ISO, MDY',
        bytea_output: 'hex',
        TimeZone: 'UTC',
        default_transaction_isolation: 'read committed',
        search_path: SEARCH_PATH,
        application_name: options.applicationName ?? 'catalogue',
        ...limitsOf(options.statementMs ?? STATEMENT_MS.default),
        // Compilation costs 20 ms or more per statement. Postgres overestimates statements that stop after one page.
        jit: 'off',
        // A generic plan made while a table is empty would use a sequential scan until the table is analyzed.
        ...(options.planOnce && { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' }),
      },
    }) as unknown as Database,
  );

/**
 * Reads Postgres's clock once and continues it with this process's monotonic clock, because the clocks of workers differ,
 * and these times are compared with rows that other workers wrote.
 */
export const readClock = async (sql: Queryable): Promise<() => Date> => clockFrom(await readTime(sql));

/** Reads Postgres's clock. */
export const readTime = (sql: Queryable): Promise<Date> =>
  onlyValue(sql<{ now: Date }[]>`select clock_timestamp() as now`);

/** The clock that `readClock` returns, from a `clock_timestamp()` that was read just now. */
export const clockFrom = (now: Date): (() => Date) => {
  const from = performance.now();
  return () => new Date(now.getTime() + performance.now() - from);
};

/** Gives the statements of this transaction more time. */
export const allowLongStatements = async (tx: Queryable): Promise<void> => {
  await tx`select set_config('statement_timeout', ${String(STATEMENT_MS.long)}, true)`;
};
