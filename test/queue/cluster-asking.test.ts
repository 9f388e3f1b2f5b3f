// A node of a Redis Cluster that closes the connection instead of answering ASKING, as one that goes while a slot moves.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openRedis } from '#src/queue/redis.ts';

/** What a node answers, in the protocol of Redis. Undefined: it closes the connection. */
type Answer = (command: string) => string | undefined;

const startNode = async (answer: Answer): Promise<number> => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      // Each command is an array of strings: of its words, the first is the name.
      const words = bytes.toString().split(/\r\n|\*\d+\r\n/);
      for (const command of words.filter((word) => /^(get|asking|cluster|client|hello|info)$/i.test(word))) {
        const reply = answer(command.toLowerCase());
        if (reply === undefined) return socket.destroy();
        socket.write(reply);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
};

const COMMON: Record<string, string> = {
  hello: '-NOPROTO\r\n',
  client: '+OK\r\n',
  info: '$9\r\nloading:0\r\n',
};

test('a connection that ends before the answer to ASKING does not end the process; the command is repeated', async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));

  const importing = await startNode((command) => COMMON[command]);
  let asked = 0;
  const port: number = await startNode((command) => {
    if (command === 'cluster')
      return `*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:${port}\r\n$40\r\n${'a'.repeat(40)}\r\n`;
    if (command !== 'get') return COMMON[command];
    asked += 1;
    return asked === 1 ? `-ASK 0 127.0.0.1:${importing}\r\n` : '$5\r\nvalue\r\n';
  });
  const redis = openRedis(`redis+cluster://127.0.0.1:${port}`, {
    prefix: '{catalogue}',
    use: 'worker',
    onError: () => {},
  });
  onTestFinished(redis.close);
  expect(await redis.client.get('{catalogue}:key')).toBe('value');
  expect(asked).toBe(2);
  expect(rejections).toEqual([]);
});
