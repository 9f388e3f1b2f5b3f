import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCli as run } from '#src/cli/run-cli.ts';

/** The command as people start it: with what Node has compiled before. */
export const CATALOGUE = fileURLToPath(new URL('../../src/cli/bin/catalogue', import.meta.url));

export type CliResult = { exit: number | null; stdout: string; stderr: string };

export type CliProcess = {
  pid: number;
  /** Output so far. */
  output: () => { stdout: string; stderr: string };
  /** Null while it runs. */
  exitCode: () => number | null;
  kill: (signal: NodeJS.Signals) => void;
  done: Promise<CliResult>;
};

/**
 * Starts the command line as a process with this environment and the system's paths, in a directory without a
 * checkout or `.env`. For signals, exit codes and what runs until it is stopped; other tests use `runCli`.
 */
export const startCli = (args: readonly string[], env: Record<string, string> = {}): CliProcess => {
  const child = spawn(CATALOGUE, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (written.stdout += chunk));
  child.stderr.on('data', (chunk) => (written.stderr += chunk));
  const done = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(
    ([stdout, stderr, [exit]]): CliResult => ({ exit, stdout, stderr }),
  );
  return {
    pid: child.pid ?? 0,
    output: () => ({ ...written }),
    exitCode: () => child.exitCode,
    kill: (signal) => void child.kill(signal),
    done,
  };
};

/** The home of commands that name none. */
const HOME = join(tmpdir(), '.catalogue');

/** Runs one command in this process, with exactly this environment. @param columns of a terminal; absent: there is none */
export const runCli = async (
  args: readonly string[],
  env: Record<string, string> = {},
  stdin = '',
  columns?: number,
): Promise<CliResult> => {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const collect = (chunks: string[]): Writable =>
    new Writable({ write: (chunk, _encoding, done) => done(void chunks.push(String(chunk))) });
  const terminal = columns === undefined ? {} : { isTTY: true, columns, rows: 1_000 };
  const stdio = {
    stdin: Readable.from([stdin]),
    stdout: Object.assign(collect(stdout), terminal),
    stderr: collect(stderr),
  };
  const readEnvironment = async () => ({ CATALOGUE_HOME: HOME, ...env });
  const exit = await run(args, { stdio, readEnvironment });
  return { exit, stdout: stdout.join(''), stderr: stderr.join('') };
};

/** The JSON document that a command printed. @throws when stdout is not exactly one line of JSON */
export const documentOf = ({ stdout, stderr }: CliResult) => {
  const lines = stdout.split('\n');
  if (lines.length !== 2 || lines[1] !== '') {
    throw new Error(`stdout is not one line of JSON:\n${stdout}\nstderr:\n${stderr}`);
  }
  return JSON.parse(lines[0] ?? '');
};
