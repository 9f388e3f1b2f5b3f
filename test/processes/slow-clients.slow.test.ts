import { expect, test } from 'vitest';
import { SIGN_IN, startServer, statusesOf, trickle } from '#test/processes/slow-clients.ts';

test('1,500 trickled sign-ins take a few megabytes of the console and end with 408', async ({
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
