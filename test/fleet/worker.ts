import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorkerTiming } from '#src/processes/worker.ts';

/** A worker of the fleet as a process of its own. */
export type WorkerProcess = {
  pid: number;
  signal: (signal: NodeJS.Signals) => void;
  /** SIGKILL, and wait for its end. */
  kill: () => Promise<void>;
  /** SIGTERM, and wait: its exit code, and how long it took. */
  stop: () => Promise<{ code: number | null; tookMs: number }>;
  exited: Promise<number | null>;
  /** Everything it has logged. */
  log: () => string;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Closer to production's: a lock outlives slow answers, and a machine that many worlds share. */
export const PATIENT = { lockMs: 10_000, idleMs: 10_000 };

export const PRODUCTION: Required<WorkerTiming> = {
  lockMs: 30_000,
  drainMs: 20_000,
  checkMs: 10_000,
  reconcileMs: 60_000,
  idleMs: 20_000,
};

const SCRIPT = fileURLToPath(new URL('./worker-process.ts', import.meta.url));

/** Waits short enough for tests; the order of them is production's. */
export const FAST: Required<WorkerTiming> = {
  lockMs: 2_000,
  drainMs: 2_000,
  checkMs: 2_000,
  reconcileMs: 1_000,
  idleMs: 2_000,
};

/**
 * Start a worker process and wait until it takes jobs (unless `waitUntilReady` is false). Killed with its scope.
 * @param options.preload a module that Node loads first
 * @param options.signal kills it, even one that is not ready yet
 */
export const startWorkerProcess = async (
  env: Record<string, string>,
  options: { timing?: WorkerTiming; waitUntilReady?: boolean; preload?: string; signal?: AbortSignal } = {},
): Promise<WorkerProcess> => {
  const timing = { ...FAST, ...options.timing };
  const flags = options.preload === undefined ? [] : ['--import', options.preload];
  const child = spawn(process.execPath, [...flags, SCRIPT, JSON.stringify(timing)], {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const abort = () => void child.kill('SIGKILL');
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted) abort();
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  if (options.waitUntilReady !== false) {
    const early = exited.then((code) => Promise.reject(new Error(`the worker ended with ${code}:\n${log}`)));
    await Promise.race([once(child.stdout, 'data'), early]);
    early.catch(() => {});
  }
  return {
    pid: child.pid ?? 0,
    signal: (signal) => void child.kill(signal),
    kill,
    stop: async () => {
      const from = performance.now();
      child.kill('SIGTERM');
      return { code: await exited, tookMs: performance.now() - from };
    },
    exited,
    log: () => log,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGCONT');
      await kill();
    },
  };
};
