import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process has used since it began. */
export type Usage = { cpuUs: number; maxRssMb: number };

export type BenchProcess = {
  child: ChildProcess;
  /** Say something, and wait for the answer that has this key. */
  ask: <Answer>(message: unknown, key: string) => Promise<Answer>;
  /** The next message that has this key. */
  next: <Answer>(key: string) => Promise<Answer>;
  usage: () => Promise<Usage>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PRELOAD = fileOf('./usage.ts');
/** A worker that is told to stop ends its jobs first; what takes longer than this is killed. */
const STOP_MS = 30_000;

/**
 * Start a Node process of the benchmark. Ends with its scope: by SIGTERM, by SIGKILL if that is not enough;
 * and by itself when this process goes, because its channel closes.
 * @param path from this folder
 */
export const startProcess = (path: string, env: Record<string, string> = {}): BenchProcess => {
  const child = fork(fileOf(path), {
    execArgv: ['--import', PRELOAD],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exit = once(child, 'exit').then(([code, signal]) => `it ended with ${signal ?? code}`);
  const next = <Answer>(key: string): Promise<Answer> =>
    new Promise((found, failed) => {
      const look = (message: unknown): void => {
        if (typeof message !== 'object' || message === null || !Object.hasOwn(message, key)) return;
        child.off('message', look);
        found((message as Record<string, Answer>)[key] as Answer);
      };
      child.on('message', look);
      exit.then((how) => failed(new Error(`no answer "${key}" of ${path}: ${how}`)));
    });
  const ask = <Answer>(message: unknown, key: string): Promise<Answer> => {
    const answer = next<Answer>(key);
    child.send(message as object);
    return answer;
  };
  return {
    child,
    ask,
    next,
    usage: () => ask<Usage>('usage', 'usage'),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      child.kill();
      await exit;
      clearTimeout(kill);
    },
  };
};

/** Ends with the process that started this one, however it ended. */
export const endWithParent = (): void => {
  process.on('disconnect', () => process.exit());
};
