import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CatalogueError } from '#src/errors.ts';

const run = promisify(execFile);

/** A fast shutdown is a matter of a checkpoint; past this we ask for an immediate one, then give up. */
export const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 25;

/**
 * Ends the Postgres that an owner killed with SIGKILL left running on `dataDirectory`, and clears a
 * `postmaster.pid` whose number has since gone to another process (Postgres would refuse to start, thinking
 * itself alive). Call it with the place locked: then whatever still runs here has no owner.
 *
 * @throws CatalogueError when that Postgres doesn't end.
 */
export const stopOrphan = async (
  dataDirectory: string,
  onProgress: (message: string) => void,
): Promise<void> => {
  const pidFile = join(dataDirectory, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 0)) return;
  if (!(await isPostmaster(pid, dataDirectory))) {
    // The file of a dead process stays: Postgres clears it itself, after looking for surviving children.
    if (isAlive(pid)) await rm(pidFile, { force: true });
    return;
  }
  onProgress(`Stopping the Postgres (pid ${pid}) that an earlier process left behind`);
  for (const [signal, limitMs] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    sendSignal(pid, signal);
    if (await endsWithin(limitMs, pid, dataDirectory)) return;
  }
  throw new CatalogueError(
    `A Postgres that an earlier process left behind (pid ${pid}, ${dataDirectory}) does not stop: end it by hand and start again`,
  );
};

const endsWithin = async (limitMs: number, pid: number, dataDirectory: string): Promise<boolean> => {
  const deadline = Date.now() + limitMs;
  while (await isPostmaster(pid, dataDirectory)) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
};

/** A postmaster's working directory is its data directory, which tells it from any other use of its pid. */
const isPostmaster = async (pid: number, dataDirectory: string): Promise<boolean> => {
  const directory = await workingDirectoryOf(pid);
  return directory !== null && directory === (await realpath(dataDirectory));
};

/** null when there is no such process, or none whose directory we may know: then it isn't ours either. */
const workingDirectoryOf = async (pid: number): Promise<string | null> => {
  try {
    if (process.platform === 'linux') return await readlink(`/proc/${pid}/cwd`);
    const { stdout } = await run('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn']);
    return /^n(.+)$/m.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
};

const sendSignal = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const isAlive = (pid: number): boolean => sendSignal(pid, 0);
