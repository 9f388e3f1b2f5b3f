import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { MEMORY } from '#src/rules/budgets.ts';
import { createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import { startRawTcpServer } from '#test/support/application-server.ts';
import { aClient, askDetail, detail, envelope, errorOf, isDone, live } from '#test/support/webhooks.ts';

const KIB = 1024;

/** A memory in which this application's part is taken, and whether a response waits for it. */
const fullMemory = async () => {
  const memory = createAnswerMemory();
  const taken = memory.createAdmission('acme', MEMORY.readingBytesOfOne);
  await taken.admit(live());
  let waits = 0;
  const createAdmission: typeof memory.createAdmission = (id, bytes) => {
    const admission = memory.createAdmission(id, bytes);
    const admit = (signal: AbortSignal) => {
      waits += 1;
      return admission.admit(signal);
    };
    return { ...admission, admit };
  };
  return { memory: { ...memory, createAdmission }, taken, waits: () => waits };
};

const bodyOf = (kib: number): string => envelope(detail()).padEnd(kib * KIB);
const withLength = (body: string, head = ''): string =>
  `HTTP/1.1 200 OK\r\n${head}content-length: ${body.length}\r\n\r\n${body}`;
const inChunks = (body: string): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const finish = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();

/** A server that sends a response, and ends its connection when told. */
const anApplication = async (response: string) => {
  const sockets: Socket[] = [];
  const server = await startRawTcpServer((socket) => {
    socket.once('data', () => socket.write(response, () => sockets.push(socket)));
  });
  onTestFinished(server.close);
  return {
    ...server,
    sent: () => sockets.length === 1,
    end: (how: (socket: Socket) => void) => sockets.forEach(how),
  };
};

test.each([
  ['a body with a length', withLength(bodyOf(65)), finish],
  ['a body with a length', withLength(bodyOf(65)), reset],
  ['a body that arrives in several pieces', withLength(bodyOf(120)), finish],
  ['a body that arrives in several pieces', withLength(bodyOf(120)), reset],
  ['a body of which the sockets hold a part', withLength(bodyOf(700)), finish],
  ['a body with a length and "connection: close"', withLength(bodyOf(65), 'connection: close\r\n'), finish],
  ['a body in chunks', inChunks(bodyOf(65)), finish],
  ['a body in chunks of which the sockets hold a part', inChunks(bodyOf(700)), finish],
])('%s that waits for memory is not lost when its server closes', async (_, response, how) => {
  const { memory, taken, waits } = await fullMemory();
  const server = await anApplication(response);
  const call = askDetail(aClient({ memory }), server.url);
  await expect.poll(() => server.sent() && waits() === 1).toBe(true);
  server.end(how);
  expect(await isDone(call)).toBe(false);
  taken.release();
  expect(await call).toEqual(detail());
});

test('a body of which a part is missing is lost when its server closes', async () => {
  const { memory, waits } = await fullMemory();
  const server = await anApplication(withLength(bodyOf(100)).slice(0, 90 * KIB));
  const call = errorOf(askDetail(aClient({ memory }), server.url));
  await expect.poll(() => server.sent() && waits() === 1).toBe(true);
  server.end(finish);
  expect((await call).code).toBe('connection_lost');
});

test('a complete body that waits for memory until the deadline says so', async () => {
  const { memory } = await fullMemory();
  const server = await anApplication(withLength(bodyOf(65)));
  const error = await errorOf(askDetail(aClient({ memory, callTimeoutMs: 300 }), server.url));
  expect(error).toMatchObject({ code: 'timeout', message: 'no memory for the response within 300 ms' });
});
