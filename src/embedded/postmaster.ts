import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, readlink, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase } from '#db/client.ts';
import { type Cluster, POSTGRES_ENV, SUPERUSER } from '#src/embedded/cluster.ts';
import { findFreePort } from '#src/embedded/free-port.ts';
import { CatalogueError } from '#src/errors.ts';

const run = promisify(execFile);

export type Postmaster = {
  databaseUrl: string;
  stop(): Promise<void>;
  /** Resolves when Postgres has ended, for any reason, with a sentence that names its log. */
  ended: Promise<string>;
};

export type StartOptions = { settings: Record<string, string>; onProgress: (message: string) => void };

const DATABASE = 'catalogue';

/** Recovery after a crash takes minutes on a large database. */
const READY_LIMIT_MS = 300_000;
/** SIGINT: end sessions, write a checkpoint. SIGQUIT: end at once; the next start recovers. */
const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 25;

/** Another process can bind the port between its choice and Postgres's start. */
const ATTEMPTS = 3;

const LOG_TAIL_LINES = 20;

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // `up` runs every process of the fleet, each with pools of its own.
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The log is not rotated while Postgres runs, because it contains errors only.
  log_checkpoints: 'off',
  // Without DETAIL, which quotes values of rows.
  log_error_verbosity: 'terse',
};

/**
 * Starts Postgres on the cluster; resolves when it accepts queries and has its database. It runs in a separate session, so a
 * Ctrl-C in the terminal does not reach it, and it ends last. The caller has locked the cluster's directory.
 *
 * @throws CatalogueError with the end of Postgres's log when it does not start.
 */
export const startPostmaster = async (cluster: Cluster, options: StartOptions): Promise<Postmaster> => {
  const log = join(cluster.directory, 'postgres.log');
  await rename(log, `${log}.1`).catch(() => undefined);
  for (let attempt = 1; ; attempt++) {
    await stopOrphan(cluster.data, options.onProgress);
    const port = await findFreePort();
    const child = await launch(cluster, log, {
      ...DEFAULT_SETTINGS,
      ...options.settings,
      port: String(port),
    });
    const urlOf = (database: string) =>
      `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${database}`;
    try {
      await untilListening(cluster.data, port, child);
      await createDatabase(urlOf('postgres'));
      const ended = once(child, 'exit').then(() => `the embedded Postgres ended: its log says why (${log})`);
      return { databaseUrl: urlOf(DATABASE), stop: () => stop(child), ended };
    } catch (cause) {
      const endedByItself = hasEnded(child);
      await stop(child);
      if (endedByItself && attempt < ATTEMPTS) continue;
      const lines = (await readFile(log, 'utf8').catch(() => '')).trim().split('\n');
      throw new CatalogueError(
        `Embedded Postgres did not start. Set DATABASE_URL to use your own Postgres server, or correct what its log says (${log}):\n${lines.slice(-LOG_TAIL_LINES).join('\n')}`,
        { cause },
      );
    }
  }
};

const launch = async (
  { binaries, data, directory, user }: Cluster,
  logFile: string,
  settings: Record<string, string>,
): Promise<ChildProcess> => {
  const log = await open(logFile, 'a', 0o600);
  try {
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(binaries.postgres, ['-D', data, ...options], {
      cwd: directory,
      env: POSTGRES_ENV,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...user,
    });
    await once(child, 'spawn');
    child.unref();
    // A process that exits without `stop` ends Postgres too. One that is killed leaves an orphan to the next start.
    const endWithProcess = () => void child.kill('SIGINT');
    process.once('exit', endWithProcess);
    child.once('exit', () => process.off('exit', endWithProcess));
    return child;
  } finally {
    await log.close();
  }
};

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const stop = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return;
  child.ref();
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  const escalation = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS);
  await exit;
  clearTimeout(escalation);
};

/** @throws Error if Postgres has ended, or recovers for too long */
const untilListening = async (data: string, port: number, child: ChildProcess): Promise<void> => {
  for (
    const endMs = performance.now() + READY_LIMIT_MS;
    !(await isListening(data, port));
    await delay(POLL_MS)
  ) {
    if (hasEnded(child)) throw new Error('it has ended');
    if (performance.now() > endMs) throw new Error('it is not ready in time');
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

/** The lines of `postmaster.pid` (Postgres's pidfile.h), which Postgres writes. */
const readPidFile = async (data: string): Promise<{ pid: number; port: number; isReady: boolean }> => {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , port = '', , , , state = ''] = text.split('\n');
  return { pid: Number.parseInt(pid, 10), port: Number(port), isReady: state.trim() === 'ready' };
};

/**
 * Does the Postgres of this data directory listen at the port? Another user of the machine may take a free port, and a client
 * that connected to it would send the password.
 */
export const isListening = async (data: string, port: number): Promise<boolean> => {
  const found = await readPidFile(data);
  return found.isReady && found.port === port && (await isPostmaster(found.pid, data));
};

/**
 * Stops the Postgres that a process killed with SIGKILL left running. Also removes a `postmaster.pid` whose number now
 * belongs to another process, because Postgres would refuse to start. The directory is locked, so no running process uses it.
 *
 * @throws CatalogueError when that Postgres does not end.
 */
const stopOrphan = async (data: string, onProgress: (message: string) => void): Promise<void> => {
  const { pid } = await readPidFile(data);
  if (!(pid > 0)) return;
  if (!(await isPostmaster(pid, data))) {
    // Postgres itself removes the file of a dead process, after it has looked for surviving children.
    if (sendSignal(pid, 0)) await rm(join(data, 'postmaster.pid'), { force: true });
    return;
  }
  onProgress(`Stopping the Postgres (pid ${pid}) that an earlier process left behind`);
  for (const [signal, limitMs] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    sendSignal(pid, signal);
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; await delay(POLL_MS)) {
      if (!(await isPostmaster(pid, data))) return;
    }
  }
  throw new CatalogueError(
    `A Postgres that an earlier process left behind (pid ${pid}, ${data}) does not stop: end it by hand and start again`,
  );
};

/** Is this process the postmaster of the data directory? A postmaster's working directory is its data directory. */
const isPostmaster = async (pid: number, data: string): Promise<boolean> => {
  try {
    const directory =
      process.platform === 'linux'
        ? await readlink(`/proc/${pid}/cwd`)
        : /^n(.+)$/m.exec((await run('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'])).stdout)?.[1];
    return directory === (await realpath(data));
  } catch {
    // No such process, or one of another user: not ours.
    return false;
  }
};

/** Sends a signal. @returns whether the process exists */
const sendSignal = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
