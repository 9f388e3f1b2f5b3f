import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type CliResult = { exit: number | null; stdout: string; stderr: string };

/** The command line as a process of its own, with exactly this environment beside the system's. */
export const startCli = (args: readonly string[], env: Record<string, string>) => {
  const child: ChildProcess = spawn(process.execPath, ['src/cli/catalogue.ts', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const done = Promise.all([
    text(child.stdout as never),
    text(child.stderr as never),
    once(child, 'exit'),
  ]).then(([stdout, stderr, [exit]]): CliResult => ({ exit, stdout, stderr }));
  return { child, done };
};

export const runCli = (args: readonly string[], env: Record<string, string>): Promise<CliResult> =>
  startCli(args, env).done;
