import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createServer } from '#src/http/create-server.ts';
import { until } from '#test/support/until.ts';

test('a client that does not read its response keeps no connection for ever', async () => {
  const bounds = { bodyMaxBytes: 1_024, connectionsMax: 10, sendMs: 500 };
  const app = createServer(pino({ level: 'silent' }), bounds);
  onTestFinished(() => app.close());
  let answered = 0;
  app.get('/', async () => {
    answered += 1;
    return Buffer.alloc(20 * 1024 * 1024);
  });
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(url.port), url.hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.pause().write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
  await until('it is answered', () => answered === 1);
  const countConnections = promisify(app.server.getConnections.bind(app.server));
  expect(await countConnections()).toBe(1);
  await until('it is cut off', async () => (await countConnections()) === 0);
});
