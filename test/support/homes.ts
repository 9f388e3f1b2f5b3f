import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { copyHome } from '#test/support/copy-home.ts';

/** A new home that is removed after the test, together with its data outside the home. */
export const makeNewHome = async (options: { name?: string; parentMode?: number } = {}): Promise<string> => {
  const parent = await mkdtemp(join(dirname(inject('initializedHome')), 'catalogue-home-'));
  // mkdtemp creates directories with mode 0700.
  await chmod(parent, options.parentMode ?? 0o755);
  const home = join(parent, options.name ?? '.catalogue');
  onTestFinished(async () => {
    const directory = await dataPlaceOf(home).catch(() => home);
    for (const path of [directory, parent]) {
      await rm(path, { recursive: true, force: true, maxRetries: 20 });
    }
  });
  return home;
};

/** The same, with an initialised Postgres. */
export const makeHome = async (options?: { name: string }): Promise<string> => {
  const home = await makeNewHome(options);
  await copyHome(inject('initializedHome'), home);
  return home;
};

/** The directory of the home's Postgres, from its record. */
export const dataPlaceOf = async (home: string): Promise<string> => {
  const { directory } = JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8'));
  return resolve(home, directory);
};

/** The postmaster's pid, from its pid file. */
export const postmasterPid = async (home: string): Promise<number> =>
  Number.parseInt(await readFile(join(await dataPlaceOf(home), 'data', 'postmaster.pid'), 'utf8'), 10);

/** Runs one statement on a new connection. */
export const query = async (databaseUrl: string, statement: string): Promise<Record<string, unknown>[]> => {
  const sql = openDatabase(databaseUrl, { max: 1 });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
};

/** Starts the home's Postgres in this process until the test ends, and keeps its progress messages. */
export const start = async (home: string, settings: Record<string, string> = { fsync: 'off' }) => {
  const progress: string[] = [];
  const instance = await startEmbeddedPostgres({ home, settings, onProgress: (line) => progress.push(line) });
  onTestFinished(() => instance.stop());
  return { ...instance, progress };
};

export const isRoot = process.getuid?.() === 0;

export type Owner = {
  pid: number;
  /** Its first line: the instance's URL, or the error. */
  answer: Promise<{ databaseUrl?: string; error?: string }>;
  end(signal: NodeJS.Signals): Promise<void>;
};

/** Starts the home's Postgres in another process. */
export const startOwner = (home: string): Owner => {
  const script = fileURLToPath(new URL('../embedded/owner-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, home], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exit;
  };
  onTestFinished(() => end('SIGTERM'));
  const firstLine = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line));
  const silentEnd = exit.then(([code]) =>
    Promise.reject(new Error(`it ended with ${code} before its answer`)),
  );
  const answer = Promise.race([firstLine, silentEnd]);
  // A test that kills the process may not await its answer.
  answer.catch(() => undefined);
  return { pid: child.pid ?? 0, answer, end };
};
