import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { MEMORY } from '#src/rules/budgets.ts';
import { createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import { startRawTcpServer } from '#test/support/application-server.ts';
import {
  aClient,
  askDetail,
  detail,
  envelope,
  errorOf,
  isDone,
  live,
  respondWith,
} from '#test/support/webhooks.ts';

const LIMITS = {
  ordinaryBytes: 1,
  readingBytes: 10,
  readingBytesOfOne: 4,
  readingBytesOfSlow: 4,
  slowMs: 0,
  slowForMs: 60_000,
  unwrittenBytes: 10,
  unwrittenBytesOfOne: 4,
};

test('one application waits for its own large answers, and others pass it', async () => {
  const memory = createAnswerMemory(LIMITS);
  const first = memory.createAdmission('hostile', 4);
  await first.admit(live());
  const second = memory.createAdmission('hostile', 4);
  const admitted = second.admit(live());
  const other = memory.createAdmission('acme', 4);
  expect(await isDone(other.admit(live()))).toBe(true);
  expect(await isDone(admitted)).toBe(false);
  first.release();
  expect(await isDone(admitted)).toBe(true);
});

test('a large answer that waits for memory is not overtaken by smaller ones, until its call ends', async () => {
  const memory = createAnswerMemory(LIMITS);
  const readers = ['one', 'two'].map((id) => memory.createAdmission(id, 4));
  for (const reader of readers) await reader.admit(live());
  const first = memory.createAdmission('large', 4).admit(live());
  const abort = new AbortController();
  const second = memory.createAdmission('larger', 4).admit(abort.signal);
  const small = memory.createAdmission('small', 2).admit(live());
  expect(await isDone(Promise.race([first, second, small]))).toBe(false);
  readers[0]?.release();
  expect([await isDone(first), await isDone(small)]).toEqual([true, false]);
  abort.abort(new Error('shutdown'));
  await expect(second).rejects.toThrow('shutdown');
  expect(await isDone(small)).toBe(true);
});

test('applications that were slow share a part of the room', async () => {
  const memory = createAnswerMemory(LIMITS);
  for (const id of ['slow', 'slower']) {
    const first = memory.createAdmission(id, 4);
    await first.admit(live());
    first.release();
  }
  const one = memory.createAdmission('slow', 4);
  await one.admit(live());
  const two = memory.createAdmission('slower', 4).admit(live());
  expect(await isDone(two)).toBe(false);
  expect(await isDone(memory.createAdmission('acme', 4).admit(live()))).toBe(true);
  one.release();
  expect(await isDone(two)).toBe(true);
});

test('an application is no longer slow after a while', async () => {
  const memory = createAnswerMemory({ ...LIMITS, readingBytesOfSlow: 0, slowForMs: 0 });
  const first = memory.createAdmission('acme', 4);
  await first.admit(live());
  first.release();
  expect(await isDone(memory.createAdmission('acme', 4).admit(live()))).toBe(true);
});

test('a call that is aborted while it waits leaves its place', async () => {
  const memory = createAnswerMemory(LIMITS);
  const first = memory.createAdmission('acme', 4);
  await first.admit(live());
  const waiting = memory.createAdmission('acme', 4);
  const abort = new AbortController();
  const admitted = waiting.admit(abort.signal);
  abort.abort(new Error('shutdown'));
  await expect(admitted).rejects.toThrow('shutdown');
  await expect(memory.createAdmission('acme', 4).admit(abort.signal)).rejects.toThrow('shutdown');
  waiting.release();
  first.release();
  expect(await isDone(memory.createAdmission('acme', 4).admit(live()))).toBe(true);
});

test('large answers wait while jobs have too much to write; a job with nothing to write may always call', async () => {
  const memory = createAnswerMemory(LIMITS);
  using slow = memory.track();
  using other = memory.track();
  slow.add(11);
  const large = memory.createAdmission('acme', 1).admit(live());
  expect(await isDone(large)).toBe(false);
  expect(await isDone(slow.room())).toBe(false);
  expect(await isDone(other.room())).toBe(true);
  other.add(1);
  const room = other.room();
  expect(await isDone(room)).toBe(false);
  slow.remove(11);
  expect(await isDone(large)).toBe(true);
  other.remove(1);
  expect(await isDone(room)).toBe(true);
});

/** The memory of a process in which this application's part is taken. */
const fullMemory = async () => {
  const memory = createAnswerMemory();
  const taken = memory.createAdmission('acme', MEMORY.readingBytesOfOne);
  await taken.admit(live());
  return { memory, taken };
};

/** A detail of the smallest size that waits for memory. */
const LARGE = envelope(detail()).padEnd(MEMORY.ordinaryBytes + 1);

test('a response whose connection closes while it waits for memory reserves none after its call', async () => {
  const { memory, taken } = await fullMemory();
  const server = await startRawTcpServer((socket) => {
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${LARGE}`));
  });
  onTestFinished(server.close);
  const call = askDetail(aClient({ memory }), server.url);
  await expect.poll(() => server.connections() - server.openConnections()).toBe(1);
  expect(await isDone(call)).toBe(false);
  taken.release();
  expect(await call).toEqual(detail());
  const all = memory.createAdmission('acme', MEMORY.readingBytesOfOne);
  expect(await isDone(all.admit(live()))).toBe(true);
});

test('a response that waits for memory to be decompressed ends at the deadline', async () => {
  const { memory, taken } = await fullMemory();
  const server = await respondWith(gzipSync(LARGE), { status: 400, headers: { 'content-encoding': 'gzip' } });
  const error = await errorOf(askDetail(aClient({ memory, callTimeoutMs: 500 }), server.url));
  expect(error).toMatchObject({ code: 'timeout', retryable: true });
  taken.release();
  const all = memory.createAdmission('acme', MEMORY.readingBytesOfOne);
  expect(await isDone(all.admit(live()))).toBe(true);
});
