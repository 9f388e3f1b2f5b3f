import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startRawServer } from '#test/support/application-server.ts';

test('a handler of a test server may fail once its client has hung up: the run does not', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
  const [begun, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const server = await startRawServer(async (request) => {
    begun.resolve();
    await text(request).catch((error: unknown) => {
      failed.resolve(error);
      throw error;
    });
  });
  onTestFinished(server.close);
  const client = connect(server.port, '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf');
  await begun.promise;
  client.destroy();
  expect(await failed.promise).toMatchObject({ code: 'ECONNRESET' });
  await nextTurn();
  expect(unhandled).toEqual([]);
});
