import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { THUMBNAIL_WIDTHS } from '#src/contract/pictures.ts';
import { createDecoder, type Decoder, spawnDecoder } from '#src/pictures/decoder.ts';
import { aPicture } from '#test/support/pictures.ts';
import { until } from '#test/support/until.ts';

const TAKEN_OVER = fileURLToPath(new URL('./decoder-taken-over.ts', import.meta.url));

/** A decoder that a picture has taken over. */
const takenOver = (way: string, decodeMs?: number): Decoder => {
  const decoder = createDecoder({ decodeMs, spawn: () => spawnDecoder(TAKEN_OVER, [way]) });
  onTestFinished(decoder.close);
  return decoder;
};
const decode = async (decoder: Decoder) => decoder.decode({ bytes: await aPicture(1), format: 'png' });

test.each([
  'a message of the protocol of Node',
  'a reply without end',
  'thumbnails without end',
  'an outcome that there is not',
  'a hash that is no number',
  'thumbnails of other lengths',
  'a header that is no JSON',
])(
  'a decoder that a picture has taken over writes %s: the picture is undecodable, and the decoder ends',
  async (way) => {
    const decoder = takenOver(way);
    expect(await decode(decoder)).toEqual({ outcome: 'undecodable' });
    expect([decoder.lost(), decoder.pid()]).toEqual([1, undefined]);
  },
);

test('a decoder that a picture has taken over names no other picture', async () => {
  const thumbnails = THUMBNAIL_WIDTHS.map((width, index) => ({
    width,
    webp: Buffer.from('abcd'[index] ?? ''),
  }));
  expect(await decode(takenOver('another picture'))).toEqual({
    outcome: 'shown',
    width: 1,
    height: 1,
    frames: 1,
    dhash: 1n,
    thumbnails,
  });
});

test('a decoder that a picture has taken over is killed for its memory between two pictures too', async () => {
  const decoder = takenOver('memory between two pictures');
  expect(await decode(decoder)).toEqual({ outcome: 'broken' });
  await until('it is killed', () => decoder.pid() === undefined);
});

test('a decoder of many threads is killed, because the system needs memory for each', async () => {
  const decoder = takenOver('from a thousand threads', 600_000);
  expect(await decode(decoder)).toEqual({ outcome: 'undecodable' });
});

test('a decoder whose main thread has ended is killed, because the system shows no memory of the others', async () => {
  const decoder = takenOver('nothing more from its main thread', 600_000);
  expect(await decode(decoder)).toEqual({ outcome: 'undecodable' });
});

test('a picture that ends two processes costs as much as both may take', async () => {
  const ways = ['a reply to the first picture alone', 'none'];
  const decoder = createDecoder({
    decodeMs: 30_000,
    spawn: () => spawnDecoder(TAKEN_OVER, ways.splice(0, 1)),
  });
  onTestFinished(decoder.close);
  expect(await decode(decoder)).toEqual({ outcome: 'broken' });
  const costs: number[] = [];
  const picture = { bytes: await aPicture(1), format: 'png' as const };
  expect(await decoder.decode(picture, (ms) => void costs.push(ms))).toEqual({ outcome: 'undecodable' });
  expect([decoder.lost(), costs]).toEqual([2, [60_000]]);
});

test('a process that does not start costs one picture', async () => {
  let started = 0;
  const spawn = () => {
    started += 1;
    // E2BIG: Linux passes no such argument to a program.
    return spawnDecoder(undefined, started === 1 ? ['x'.repeat(200_000)] : []);
  };
  const decoder = createDecoder({ spawn });
  onTestFinished(decoder.close);
  expect(await decode(decoder)).toEqual({ outcome: 'undecodable' });
  expect(await decode(decoder)).toMatchObject({ outcome: 'shown' });
});

test('the memory of a process that did not start is watched no longer', async () => {
  // As if no process were left (EAGAIN): Node reports it by an event, and the process has no exit.
  const decoder = createDecoder({
    spawn: () => spawn('/no/such/program', { stdio: ['pipe', 'pipe', 'ignore'] }),
  });
  onTestFinished(decoder.close);
  const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  onTestFinished(() => void [begun, ended].map((spy) => spy.mockRestore()));
  expect(await decode(decoder)).toEqual({ outcome: 'undecodable' });
  const [watch] = begun.mock.results.map(({ value }) => value);
  expect(watch).toBeDefined();
  await expect.poll(() => ended.mock.calls.flat()).toContain(watch);
});

test('a decoder is watched from its first moment, and not ended before it has memory of its own', async () => {
  const spawn = () => {
    const child = spawnDecoder();
    child.kill('SIGSTOP');
    setTimeout(() => child.kill('SIGCONT'), 300);
    return child;
  };
  const decoder = createDecoder({ spawn });
  onTestFinished(decoder.close);
  expect(await decode(decoder)).toMatchObject({ outcome: 'shown' });
  expect(decoder.lost()).toBe(0);
});

test('a process that starts more slowly than a picture may take costs no picture', async () => {
  const decodeMs = 5_000;
  const spawn = () => {
    const child = spawnDecoder();
    child.kill('SIGSTOP');
    setTimeout(() => child.kill('SIGCONT'), decodeMs + 500);
    return child;
  };
  const decoder = createDecoder({ decodeMs, spawn });
  onTestFinished(decoder.close);
  expect(await decode(decoder)).toMatchObject({ outcome: 'shown' });
});
