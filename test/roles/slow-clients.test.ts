import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, type TestContext, test } from 'vitest';
import { until } from '#test/support/until.ts';

type OnFinished = TestContext['onTestFinished'];

/** Starts a server in a process of its own. @returns its port, and a function that reads the bytes of its heap */
const startServer = async (name: 'console' | 'metrics', onFinished: OnFinished) => {
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
const trickle = async (
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
const statusesOf = async (clients: readonly Client[]): Promise<string[]> => {
  await until('every connection ends', () => clients.every(({ socket }) => socket.closed));
  return [...new Set(clients.map(({ status }) => status ?? 'no answer'))];
};

const SIGN_IN =
  'POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

test.concurrent('1,500 trickled sign-ins take a few megabytes of the console and end with 408', async ({
  onTestFinished,
}) => {
  const { port, heapBytes } = await startServer('console', onTestFinished);
  const before = await heapBytes();
  const head = `${SIGN_IN}Content-Length: 4000\r\n\r\n${'x'.repeat(3_000)}`;
  const clients = await trickle(port, 1_500, head, onTestFinished);
  // 10 kB a connection; 250 kB before bodies were limited.
  expect((await heapBytes()) - before).toBeLessThan(40_000_000);
  expect(await statusesOf(clients)).toEqual(['408']);
});

test.concurrent('the console refuses a body above 4 KiB from anyone who is not signed in', async ({
  onTestFinished,
}) => {
  const { port } = await startServer('console', onTestFinished);
  const chunk = `${(200_000).toString(16)}\r\n${'x'.repeat(100_000)}`;
  const heads = [
    `${SIGN_IN}Content-Length: 4097\r\n\r\n`,
    `${SIGN_IN}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    `${SIGN_IN.replace('/sign-in', '/nowhere')}Content-Length: 4097\r\n\r\n`,
  ];
  const clients = await Promise.all(heads.map((head) => trickle(port, 1, head, onTestFinished)));
  expect(await statusesOf(clients.flat())).toEqual(['413']);
});

test.concurrent.for([
  { name: 'console', status: '404' },
  { name: 'metrics', status: '200' },
] as const)(
  'the $name server ends a request whose headers or body do not end',
  async ({ name, status }, { onTestFinished }) => {
    const { port } = await startServer(name, onTestFinished);
    const slowHeaders = await trickle(port, 5, 'GET /healthz HTTP/1.1\r\nX-Slow: ', onTestFinished);
    const slowBody = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n';
    const answered = await trickle(port, 5, slowBody, onTestFinished);
    expect(await statusesOf(slowHeaders)).toEqual(['408']);
    // Answered without the body, and closed when the body does not come.
    expect(await statusesOf(answered)).toEqual([status]);
  },
);

test.concurrent('the metrics server closes connections above its limit', async ({ onTestFinished }) => {
  const { port } = await startServer('metrics', onTestFinished);
  const clients = await trickle(port, 150, 'GET /healthz HTTP/1.1\r\nX-Slow: ', onTestFinished);
  await until('50 are closed without an answer', () => {
    const closed = clients.filter(({ socket }) => socket.closed);
    return closed.length === 50 && closed.every(({ status }) => status === undefined);
  });
  const statuses = await statusesOf(clients);
  expect(statuses.toSorted()).toEqual(['408', 'no answer']);
});
