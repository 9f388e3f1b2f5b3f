import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { UsageError } from '#src/errors.ts';
import { listen, stopListening } from '#src/processes/listen.ts';
import { until } from '#test/support/until.ts';

test('stopping answers the call in progress and does not wait for its idle connection', async () => {
  const [came, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = fastify({ return503OnClosing: false });
  app.get('/', async () => {
    came.resolve();
    await may.promise;
    return 'answered';
  });
  const url = await listen(app, '127.0.0.1', 0, 'API_PORT');
  const agent = new Agent({ keepAlive: true });
  const sent = request(url, { agent }).end();
  const answered = once(sent, 'response');
  await came.promise;
  const stopped = stopListening(app);
  await until('it listens no more', () => !app.server.listening);
  may.resolve();
  const [response] = await answered;
  expect(response.statusCode).toBe(200);
  response.resume();
  // As long as a connection may be idle otherwise is longer than this test may take.
  await stopped;
  agent.destroy();
});

test.each([
  ['a name that does not resolve', 'nowhere.invalid', 0],
  ['an address of another machine', '192.0.2.1', 0],
])('%s to listen at is refused with what to set', async (_, host, port) => {
  const refused = listen(fastify(), host, port, 'API_PORT');
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(/set API_HOST to an address of this machine and API_PORT/);
});
