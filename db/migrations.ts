import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Queryable } from '#db/client.ts';
import { DEADLOCK_DETECTED, isPostgresError, LOCK_NOT_AVAILABLE, UNDEFINED_TABLE } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

/** One file of `db/migrations`. `when` (ms since 1970, when drizzle-kit generated it) is its id in the database. */
export type Migration = { when: number; hash: string; statements: string[] };

const FOLDER = new URL('./migrations/', import.meta.url);

/** Reads drizzle-kit's journal: every migration of this version, in order. */
export const readJournal = async (): Promise<{ when: number; tag: string }[]> =>
  JSON.parse(await readFile(new URL('meta/_journal.json', FOLDER), 'utf8')).entries;

/** Reads every migration of this version, in order. */
export const readMigrations = async (): Promise<Migration[]> =>
  Promise.all(
    (await readJournal()).map(async ({ when, tag }) => {
      const text = await readFile(new URL(`${tag}.sql`, FOLDER), 'utf8');
      const hash = createHash('sha256').update(text).digest('hex');
      return { when, hash, statements: text.split('--> statement-breakpoint') };
    }),
  );

/** Reads which migrations a database has: the `when` of each. Empty for a new database. */
export const readApplied = async (sql: Queryable): Promise<Set<number>> => {
  try {
    const rows = await sql<{ when: number }[]>`
      select created_at::float8 as when from drizzle.__drizzle_migrations`;
    return new Set(rows.map(({ when }) => when));
  } catch (error) {
    if (isPostgresError(coerceError(error), UNDEFINED_TABLE)) return new Set();
    throw error;
  }
};

/** Writers queue behind a statement that waits for a table lock, for at most this time. */
const LOCK_TIMEOUT_MS = 2_000;
const RETRY_AFTER_MS = 1_000;
/** After this time with a lock or a deadlock, `migrate` fails. The next `migrate` continues at that statement. */
const GIVE_UP_AFTER_MS = 600_000;

const CONCURRENTLY = /^(\s|--.*\n)*(create|drop)\s+(unique\s+)?index\s+concurrently\b/i;
const DROP_CONCURRENTLY = /^(\s|--.*\n)*drop\s+index\s+concurrently\b/i;

/**
 * Applies the migrations that the database does not have. Each statement has a separate transaction, so it holds its locks
 * for a short time and rarely deadlocks with writers. One that meets a lock or a deadlock is repeated for up to ten
 * minutes. After an interruption it continues with the first statement that is not recorded.
 *
 * Indexes of large tables are created and dropped CONCURRENTLY, which runs outside a transaction. Such a statement waits
 * for its locks without a limit, and its deadlock fails the migration. A DROP INDEX CONCURRENTLY is not recorded, so it is
 * repeated with the CREATE that follows it, and removes what an interrupted CREATE left.
 *
 * `__drizzle_migrations` is drizzle's table, with the rows that drizzle would write. Drizzle's `migrate` is not used,
 * because it applies all migrations in one transaction.
 *
 * @param sql a pool of one connection; the caller has the migration lock
 * @returns how many it applied
 */
export const applyMigrations = async (sql: Database, migrations: readonly Migration[]): Promise<number> => {
  await sql`create schema if not exists drizzle`;
  await sql`
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`;
  await sql`
    create table if not exists drizzle.migration_progress (created_at bigint primary key, statements integer not null)`;
  // A process that was killed may leave a step that is about to commit. It has written to this table, so this lock waits
  // for it. A step whose statement still runs cannot commit, because its client is gone.
  await sql.begin((tx) => tx`lock table drizzle.migration_progress`);
  const applied = await readApplied(sql);
  const missing = migrations.filter(({ when }) => !applied.has(when));
  for (const migration of missing) await applyMigration(sql, migration);
  return missing.length;
};

const applyMigration = async (sql: Database, { when, hash, statements }: Migration): Promise<void> => {
  const [progress] = await sql<{ statements: number }[]>`
    select statements from drizzle.migration_progress where created_at = ${when}`;
  for (let index = progress?.statements ?? 0; index < statements.length; index += 1) {
    const statement = statements[index] ?? '';
    const isConcurrent = CONCURRENTLY.test(statement);
    if (isConcurrent) await sql.unsafe(statement);
    if (DROP_CONCURRENTLY.test(statement)) continue;
    await retryLocked(() =>
      sql.begin(async (tx) => {
        await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
        if (!isConcurrent) await tx.unsafe(statement);
        await tx`
          insert into drizzle.migration_progress values (${when}, ${index + 1})
          on conflict (created_at) do update set statements = excluded.statements`;
      }),
    );
  }
  await sql.begin(async (tx) => {
    await tx`delete from drizzle.migration_progress where created_at = ${when}`;
    await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${when})`;
  });
};

const retryLocked = async (work: () => Promise<unknown>): Promise<void> => {
  const deadline = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (thrown) {
      const error = coerceError(thrown);
      const isLocked = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED].some((code) => isPostgresError(error, code));
      if (!isLocked || performance.now() > deadline) throw error;
    }
    await delay(RETRY_AFTER_MS);
  }
};
