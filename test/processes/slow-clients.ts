import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { TestContext } from 'vitest';
import { until } from '#test/support/until.ts';

type OnFinished = TestContext['onTestFinished'];

/** Starts a server in a process of its own. @returns its port, and a function that reads the bytes of its heap */
export const startServer = async (name: 'console' | 'metrics', onFinished: OnFinished) => {
  const script = new URL('server-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--expose-gc', script, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  onFinished(async () => {
    child.kill();
    await exit;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const readNumber = async () => Number((await lines.next()).value);
  const port = await readNumber();
  const heapBytes = () => {
    child.stdin.write('\n');
    return readNumber();
  };
  return { port, heapBytes };
};

type Client = { socket: Socket; status: string | undefined };

/** Opens this many connections, each of which sends `head` and then a byte every half a second. */
export const trickle = async (
  port: number,
  count: number,
  head: string,
  onFinished: OnFinished,
): Promise<Client[]> => {
  const open = async (): Promise<Client> => {
    const socket = connect(port, '127.0.0.1');
    const client: Client = { socket, status: undefined };
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      client.status ??= bytes.toString('latin1').split(' ', 2)[1];
    });
    await once(socket, 'connect');
    socket.write(head);
    return client;
  };
  const clients = await Promise.all(Array.from({ length: count }, open));
  const timer = setInterval(() => {
    for (const { socket } of clients) if (socket.writable) socket.write('x');
  }, 500);
  onFinished(() => {
    clearInterval(timer);
    for (const { socket } of clients) socket.destroy();
  });
  return clients;
};

/** The statuses of the answers, after every connection has ended. */
export const statusesOf = async (clients: readonly Client[]): Promise<string[]> => {
  await until('every connection ends', () => clients.every(({ socket }) => socket.closed));
  return [...new Set(clients.map(({ status }) => status ?? 'no answer'))];
};

export const SIGN_IN =
  'POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';
