import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';

/** A directory that is gone when the test is, with whatever data was put elsewhere for the home in it. */
export const makeHome = async (options: { name?: string; parentMode?: number } = {}): Promise<string> => {
  const parent = await mkdtemp(join(tmpdir(), 'catalogue-home-'));
  // The system's directory for temporary files may be closed itself; this one's own mode is what we choose.
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

/** Where the home says its Postgres lives. */
export const dataPlaceOf = async (home: string): Promise<string> => {
  const { directory } = JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8'));
  return resolve(home, directory);
};

/** The postmaster's pid, from the file it keeps. */
export const postmasterPid = async (home: string): Promise<number> =>
  Number.parseInt(await readFile(join(await dataPlaceOf(home), 'data', 'postmaster.pid'), 'utf8'), 10);

/** One statement on a connection of its own. */
export const query = async (databaseUrl: string, statement: string): Promise<Record<string, unknown>[]> => {
  const sql = openDatabase(databaseUrl, { max: 1 });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
};

/** Starts the home's Postgres in this process, to be stopped with the test; keeps what it said on the way. */
export const start = async (home: string, settings: Record<string, string> = { fsync: 'off' }) => {
  const progress: string[] = [];
  const instance = await startEmbeddedPostgres({ home, settings, onProgress: (line) => progress.push(line) });
  onTestFinished(() => instance.stop());
  return { ...instance, progress };
};

export const isRoot = process.getuid?.() === 0;

export type Owner = {
  pid: number;
  /** Its first line: the instance's URL, or why there is none. */
  answer: Promise<{ databaseUrl?: string; error?: string }>;
  end(signal: NodeJS.Signals): Promise<void>;
};

/** Another process that starts the home's Postgres. */
export const startOwner = (home: string): Owner => {
  const script = fileURLToPath(new URL('./owner-process.ts', import.meta.url));
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
  // A test that kills it may not care for an answer.
  answer.catch(() => undefined);
  return { pid: child.pid ?? 0, answer, end };
};
