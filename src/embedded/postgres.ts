// The embedded Postgres of one home (CATALOGUE_HOME): cluster.ts chooses and initializes its directory, this file locks
// it, postmaster.ts runs Postgres on it, and `instance.json` gives other processes its URL.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { findData, initializeData, openCluster } from '#src/embedded/cluster.ts';
import { isListening, type StartOptions, startPostmaster } from '#src/embedded/postmaster.ts';
import { CatalogueError, coerceError, EXIT } from '#src/errors.ts';

export type EmbeddedInstance = {
  /** Superuser, password and database included. */
  databaseUrl: string;
  /** Stops Postgres in order. Can be called twice. */
  stop(): Promise<void>;
  /** Resolves when Postgres ends before `stop` is called, with a sentence that names its log. */
  lost: Promise<string>;
};

/** `instance.json` exists while the instance runs. `pid` is the process that started it. */
const instanceSchema = z.object({ databaseUrl: z.string(), pid: z.number() });
const instanceFile = (home: string): string => join(home, 'instance.json');

/**
 * Starts the Postgres of one home, and creates it at the first start: on 127.0.0.1, a free port and with a random password.
 * Stops the Postgres of a process killed with SIGKILL. Registers no signal handler, so the caller stops it.
 *
 * @param options.home the directory of this instance (CATALOGUE_HOME)
 * @param options.settings Postgres settings that override the defaults, which are durable
 * @throws CatalogueError, with exit code 4 when a running process uses this home's instance
 */
export const startEmbeddedPostgres = async (options: {
  home: string;
  onProgress?: (message: string) => void;
  settings?: Record<string, string>;
}): Promise<EmbeddedInstance> => {
  const { onProgress = () => {}, settings = {} } = options;
  const home = resolve(options.home);
  try {
    return await start(home, { onProgress, settings });
  } catch (thrown) {
    const cause = coerceError(thrown);
    if (cause instanceof CatalogueError) throw cause;
    throw new CatalogueError(
      `Embedded Postgres did not start in ${home}: ${cause.message}. Set CATALOGUE_HOME to another directory, or DATABASE_URL to your own Postgres server.`,
      { cause },
    );
  }
};

const start = async (home: string, options: StartOptions): Promise<EmbeddedInstance> => {
  await using started = new AsyncDisposableStack();
  const cluster = await openCluster(home, options.onProgress);
  started.defer(await lockDirectory(cluster.directory));
  await initializeData(cluster, { sync: options.settings.fsync !== 'off', onProgress: options.onProgress });
  const { databaseUrl, stop, ended } = await startPostmaster(cluster, options);
  started.defer(stop);
  await writeInstance(home, databaseUrl);
  started.defer(() => rm(instanceFile(home), { force: true }));

  const running = started.move();
  let stopping: Promise<void> | undefined;
  return {
    databaseUrl,
    lost: new Promise((resolve) => {
      ended.then((reason) => stopping ?? resolve(reason));
    }),
    stop: () => {
      stopping ??= running.disposeAsync();
      return stopping;
    },
  };
};

/** Keeps the locks of this process from the garbage collector, which would close them. */
const locks = new Set<DatabaseSync>();

const SQLITE_BUSY = 5;

/**
 * Locks `directory` for this process until it calls the returned function or ends. The lock is SQLite's, on an empty
 * database file, because the kernel takes it atomically and releases it with the process. `owner.pid` is for messages.
 *
 * @throws CatalogueError with exit code 4 when this or another process has the lock.
 */
const lockDirectory = async (directory: string): Promise<() => void> => {
  const pidFile = join(directory, 'owner.pid');
  const lock = new DatabaseSync(join(directory, 'lock'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
    await writeFile(pidFile, String(process.pid), { mode: 0o600 });
  } catch (error) {
    lock.close();
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw error;
    const pid = await readFile(pidFile, 'utf8').catch(() => 'unknown');
    throw new CatalogueError(
      `already running in this directory (pid ${pid}): stop it or use another CATALOGUE_HOME`,
      { exitCode: EXIT.alreadyRunning },
    );
  }
  locks.add(lock);
  return () => {
    locks.delete(lock);
    lock.close();
  };
};

/** Writes the file atomically, because another process can read it at any moment. */
const writeInstance = async (home: string, databaseUrl: string): Promise<void> => {
  const draft = `${instanceFile(home)}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, JSON.stringify({ databaseUrl, pid: process.pid }), { mode: 0o600 });
  await rename(draft, instanceFile(home));
};

/** Finds the instance of this home, in any process. @returns its database URL; null if its Postgres is not ready */
export const findRunningInstance = async (home: string): Promise<string | null> => {
  try {
    const { databaseUrl } = instanceSchema.parse(JSON.parse(await readFile(instanceFile(home), 'utf8')));
    return (await isListening(await findData(home), Number(new URL(databaseUrl).port))) ? databaseUrl : null;
  } catch {
    return null;
  }
};
