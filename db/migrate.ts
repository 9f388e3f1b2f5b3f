import { setTimeout as delay } from 'node:timers/promises';
import { type Database, openDatabase, STATEMENT_MS } from '#db/client.ts';
import { LOCKS } from '#db/locks.ts';
import { applyMigrations, readMigrations } from '#db/migrations.ts';
import { onlyValue } from '#db/rows.ts';
import { refuseNewerSchema } from '#db/schema-version.ts';
import { CatalogueError } from '#src/errors.ts';

const LOCK_POLL_MS = 200;

/**
 * Takes the migration lock. Polls, because a session that waits in `pg_advisory_lock` has a snapshot, and CREATE INDEX
 * CONCURRENTLY waits for every older snapshot, so both would wait forever.
 */
const takeLock = async (sql: Database): Promise<void> => {
  const tryLock = () =>
    onlyValue(sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${LOCKS.migration}) as locked`);
  while (!(await tryLock())) await delay(LOCK_POLL_MS);
};

/** Refuses an encoding that lacks a script, because names of games use all. SQL_ASCII is accepted, because it stores bytes unchanged. */
const refuseEncoding = async (sql: Database): Promise<void> => {
  const encoding = await onlyValue(sql<{ server_encoding: string }[]>`show server_encoding`);
  if (['UTF8', 'SQL_ASCII'].includes(encoding)) return;
  throw new CatalogueError(
    `The database's encoding is ${encoding}, which cannot store the names of all games: create a database with create database … encoding 'UTF8' template template0.`,
  );
};

/**
 * Brings the catalogue's tables, functions and triggers up to date while workers write. Many processes can call it
 * at once: one migrates under an advisory lock, the others wait and then have nothing to do.
 *
 * @returns how many migrations it applied
 * @throws CatalogueError when a newer version migrated the database, or its encoding cannot store every text
 */
export const migrateDatabase = async (databaseUrl: string): Promise<number> => {
  // Two sessions, because this one keeps the lock, for hours if a migration takes hours.
  const lock = openDatabase(databaseUrl, {
    max: 1,
    applicationName: 'catalogue migrate lock',
    keepOpen: true,
    statementMs: STATEMENT_MS.none,
  });
  const sql = openDatabase(databaseUrl, {
    max: 1,
    applicationName: 'catalogue migrate',
    statementMs: STATEMENT_MS.none,
  });
  try {
    await takeLock(lock);
    await refuseEncoding(lock);
    await refuseNewerSchema(lock);
    return await applyMigrations(sql, await readMigrations());
  } finally {
    // No statement is in flight. Without a limit, the driver waits for a connection that the server closed.
    await sql.end({ timeout: 0 });
    await lock.end({ timeout: 0 });
  }
};
