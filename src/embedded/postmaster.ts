import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '#db/client.ts';
import { isPostgresError } from '#db/sqlstate.ts';
import { dataDirectoryOf, POSTGRES_ENV, SUPERUSER } from '#src/embedded/cluster.ts';
import { findFreePort } from '#src/embedded/free-port.ts';
import { FAST_SHUTDOWN_MS, stopOrphan } from '#src/embedded/orphan.ts';
import type { Place } from '#src/embedded/place.ts';
import { CatalogueError, coerceError } from '#src/errors.ts';

export type Postmaster = {
  databaseUrl: string;
  stop(): Promise<void>;
  /** Resolves when Postgres has ended, whoever ended it. */
  ended: Promise<unknown>;
};

export type StartOptions = { settings: Record<string, string>; onProgress: (message: string) => void };

const DATABASE = 'catalogue';

/** Replaying the log after a crash may take its time on a large database. */
const READY_LIMIT_MS = 300_000;
const POLL_MS = 25;

/** A port may be lost to another process between choosing and binding it. */
const ATTEMPTS = 3;

const LOG_TAIL_LINES = 20;

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Nothing rotates this log while Postgres runs: errors belong in it, routine doesn't.
  log_checkpoints: 'off',
  // Without DETAIL, which quotes the values of rows.
  log_error_verbosity: 'terse',
};

/**
 * Starts Postgres on the place's data directory and returns once it answers and has its database. It is our
 * child, but in a session of its own: a Ctrl-C in the terminal reaches us and not it, so that it ends last.
 *
 * @throws CatalogueError with the end of Postgres's log when it doesn't start.
 */
export const startPostmaster = async (place: Place, options: StartOptions): Promise<Postmaster> => {
  const log = logFileOf(place);
  await rename(log, `${log}.1`).catch(() => undefined);
  for (let attempt = 1; ; attempt++) {
    await stopOrphan(dataDirectoryOf(place), options.onProgress);
    const port = await findFreePort();
    const child = await launch(place, { ...DEFAULT_SETTINGS, ...options.settings, port: String(port) });
    const urlOf = (database: string) =>
      `postgres://${SUPERUSER}:${place.password}@127.0.0.1:${port}/${database}`;
    try {
      await createDatabaseWhenReady(urlOf('postgres'), child);
      return { databaseUrl: urlOf(DATABASE), stop: () => stop(child), ended: once(child, 'exit') };
    } catch (cause) {
      const endedByItself = hasEnded(child);
      await stop(child);
      if (endedByItself && attempt < ATTEMPTS) continue;
      throw await startError(place, cause);
    }
  }
};

const logFileOf = (place: Place): string => join(place.directory, 'postgres.log');

const launch = async (place: Place, settings: Record<string, string>): Promise<ChildProcess> => {
  const log = await open(logFileOf(place), 'a', 0o600);
  try {
    const child = spawn(
      place.binaries.postgres,
      [
        '-D',
        dataDirectoryOf(place),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        cwd: place.directory,
        env: POSTGRES_ENV,
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        ...place.user,
      },
    );
    await once(child, 'spawn');
    // A process that is killed leaves an orphan, which the next start finds; one that ends early takes it along.
    child.unref();
    const endAlong = () => void child.kill('SIGINT');
    process.once('exit', endAlong);
    child.once('exit', () => process.off('exit', endAlong));
    return child;
  } finally {
    await log.close();
  }
};

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** SIGINT is Postgres's fast shutdown: sessions are ended, data is written. SIGQUIT leaves that to recovery. */
const stop = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return;
  child.ref();
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  const impatience = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS);
  await exit;
  clearTimeout(impatience);
};

const CANNOT_CONNECT_NOW = '57P03';

/** No connection yet, or one that Postgres refuses while it starts; any other answer of it is final. */
const isStarting = (error: Error): boolean => !isPostgresError(error) || error.code === CANNOT_CONNECT_NOW;

const createDatabaseWhenReady = async (serverUrl: string, child: ChildProcess): Promise<void> => {
  const deadline = Date.now() + READY_LIMIT_MS;
  for (;;) {
    try {
      return await createDatabase(serverUrl);
    } catch (thrown) {
      const error = coerceError(thrown);
      if (hasEnded(child) || Date.now() > deadline || !isStarting(error)) throw error;
    }
    await delay(POLL_MS);
  }
};

const createDatabase = async (serverUrl: string): Promise<void> => {
  const sql = openDatabase(serverUrl, { max: 1, applicationName: 'catalogue start' });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${DATABASE}`;
    if (!found) await sql`create database ${sql(DATABASE)}`;
  } finally {
    await sql.end();
  }
};

const startError = async (place: Place, cause: unknown): Promise<CatalogueError> => {
  const log = await readFile(logFileOf(place), 'utf8').catch(() => '');
  const tail = log.trim().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  return new CatalogueError(
    `Embedded Postgres did not start. Set DATABASE_URL to use a server of your own, or mend what its log says (${logFileOf(place)}):\n${tail}`,
    { cause },
  );
};
