import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '#src/embedded/free-port.ts';

/** A redis-server of one's own, to be treated badly. */
export type RedisServer = {
  port: number;
  url: string;
  directory: string;
  /** Ends it (by default in good order). */
  end: (signal?: NodeJS.Signals) => Promise<void>;
  /** Starts it again on its port, with what it kept. */
  start: () => Promise<void>;
  /** SIGSTOP: its connections stay, and nothing answers until SIGCONT. */
  signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  [Symbol.asyncDispose]: () => Promise<void>;
};

const READY = /ready to accept connections|Sentinel ID is/i;

/** Starts redis-server from the PATH. It keeps nothing over a restart unless `args` say so. */
export const startRedisServer = async (
  options: { args?: readonly string[]; config?: (directory: string, port: number) => Promise<string> } = {},
): Promise<RedisServer> => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-redis-'));
  const port = await findFreePort();
  const own = options.config === undefined ? [] : [await options.config(directory, port)];
  const args = [
    ...own,
    ...(options.config === undefined ? ['--port', String(port), '--bind', '127.0.0.1'] : []),
    ...['--dir', directory, ...(options.config === undefined ? ['--save', ''] : [])],
    ...(options.args ?? []),
  ];
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    let said = '';
    await new Promise<void>((ready, failed) => {
      const hear = (chunk: Buffer) => {
        said += chunk;
        if (READY.test(said)) ready();
      };
      started.stdout.on('data', hear);
      started.stderr.on('data', hear);
      started.once('error', failed);
      started.once('exit', () => failed(new Error(`redis-server did not start:\n${said}`)));
    });
  };
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  };
  await start().catch(async (error: unknown) => {
    await rm(directory, { recursive: true });
    throw error;
  });
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    directory,
    end,
    start,
    signal: (signal) => void child?.kill(signal),
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
};
