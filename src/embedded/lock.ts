import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CatalogueError, EXIT } from '#src/errors.ts';

export type Lock = { release(): void };

/** Held locks, so that the garbage collector doesn't close one whose owner forgot it. */
const held = new Set<DatabaseSync>();

const SQLITE_BUSY = 5;
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;

/**
 * Makes this process the only owner of `directory` until it releases the lock or ends. The lock is SQLite's
 * on an empty database file: the kernel's own, taken atomically and released with the process however that
 * ends, which a pid in a file is not. The pid beside it is only there to be told.
 *
 * @throws CatalogueError with exit code 4 when another start, here or in another process, owns it.
 */
export const lockDirectory = async (directory: string): Promise<Lock> => {
  const pidFile = join(directory, 'owner.pid');
  const database = new DatabaseSync(join(directory, 'lock'));
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    const pid = await readFile(pidFile, 'utf8').catch(() => 'unknown');
    throw new CatalogueError(
      `already running in this directory (pid ${pid}): stop it or use another CATALOGUE_HOME`,
      { exitCode: EXIT.alreadyRunning },
    );
  }
  held.add(database);
  const release = () => {
    if (held.delete(database)) database.close();
  };
  try {
    await writeFile(pidFile, String(process.pid), { mode: 0o600 });
  } catch (error) {
    release();
    throw error;
  }
  return { release };
};
