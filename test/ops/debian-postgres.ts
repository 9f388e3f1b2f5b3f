import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openDatabase } from '#db/client.ts';
import { findFreePort } from '#src/embedded/free-port.ts';
import { until } from '#test/support/until.ts';

/** A Postgres server of the system packages, with its pg_dump. */
export type SystemPostgres = AsyncDisposable & {
  databaseUrl: string;
  /** As its superuser. */
  adminUrl: string;
  /** The directory of its programs. */
  bin: string;
  /** What the server has said. */
  log: () => string;
};

const idOf = (flag: '-u' | '-g'): number =>
  Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));

/** Finds the directory of the system's Postgres server; undefined if there is none. */
const findPrograms = (): string | undefined => {
  for (const version of [18, 17, 16, 15, 14]) {
    const bin = `/usr/lib/postgresql/${version}/bin`;
    try {
      execFileSync(join(bin, 'postgres'), ['--version']);
      execFileSync(join(bin, 'pg_dump'), ['--version']);
      return bin;
    } catch {
      // Not this one.
    }
  }
  return undefined;
};

/**
 * Start one whose superuser is `postgres`.
 * @param setup shell commands that create the role and the database `catalogue`, as `postgres` runs them
 * @param serverEnv environment of the server
 * @returns undefined if no server is installed
 */
export const startSystemPostgres = async (
  setup: readonly string[],
  serverEnv: NodeJS.ProcessEnv = process.env,
): Promise<SystemPostgres | undefined> => {
  const bin = findPrograms();
  if (bin === undefined) return undefined;
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-postgres-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  // Postgres refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (user.uid !== undefined) await chown(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const init = ['--pgdata', data, '--auth=trust', '--username=postgres', '--no-sync'];
  execFileSync(join(bin, 'initdb'), init, { ...user, cwd: directory, stdio: 'ignore' });
  const port = await findFreePort();
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory, '-c', 'fsync=off'];
  const server: ChildProcess = spawn(join(bin, 'postgres'), args, {
    ...user,
    cwd: directory,
    env: serverEnv,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  started.defer(async () => {
    const exit = once(server, 'exit');
    server.kill('SIGINT');
    await exit;
  });
  const admin = openDatabase(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1 });
  started.defer(() => admin.end());
  await until('Postgres starts', () => admin`select`.then(() => true).catch(() => false));
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: 'postgres',
  };
  for (const command of setup) execFileSync('sh', ['-c', command], { env });
  const all = started.move();
  return {
    adminUrl: `postgres://postgres@127.0.0.1:${port}/postgres`,
    databaseUrl: `postgres://catalogue@127.0.0.1:${port}/catalogue`,
    bin: [bin, process.env.PATH].join(delimiter),
    log: () => log,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};
