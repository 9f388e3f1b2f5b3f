import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '#test/support/until.ts';

/** A role of the fleet as a process. */
export type RoleProcess = {
  child: ChildProcess;
  /** URL of its `/metrics`. */
  metrics: string;
  /** URL that it serves; `ready` for a worker. */
  address: string;
  /** URL of its API, if it has one. */
  api: string | undefined;
  /** Its stderr so far. */
  log: () => string;
  stop: () => Promise<void>;
};

/** A command line, as a process with exactly this environment beside the system's path. */
export const spawnCatalogue = (args: readonly string[], env: Record<string, string>): ChildProcess =>
  spawn(process.execPath, ['src/cli/catalogue.ts', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Start a role and wait until it logs the address of its metrics. */
export const startRole = async (role: string, env: Record<string, string>): Promise<RoleProcess> => {
  const child = spawnCatalogue([role, '--json'], { METRICS_PORT: '0', ...env });
  const exit = once(child, 'exit');
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  let document: Record<string, string> | undefined;
  if (child.stdout === null) throw new Error('stdout is a pipe');
  createInterface(child.stdout).on('line', (line) => {
    document = JSON.parse(line);
  });
  await until(`${role} starts`, () => {
    if (child.exitCode !== null) throw new Error(`${role} ended with ${child.exitCode}:\n${log}`);
    return document !== undefined;
  });
  return {
    child,
    metrics: document?.metrics ?? '',
    address: document?.[role] ?? '',
    api: document?.api,
    log: () => log,
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
};

/** One scrape: `name{labels}` -> value, as a line of the exposition has it. */
export const scrape = async (url: string): Promise<Map<string, number>> => {
  const text = await (await fetch(url)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
};
