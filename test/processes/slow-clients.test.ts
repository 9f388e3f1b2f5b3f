import { expect, test } from 'vitest';
import { SIGN_IN, startServer, statusesOf, trickle } from '#test/processes/slow-clients.ts';
import { until } from '#test/support/until.ts';

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
