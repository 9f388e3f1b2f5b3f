import { fork } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { refuseIoUring } from '#src/pictures/confine.ts';
import { createDecoder, requireConfined } from '#src/pictures/decoder.ts';

const ATTEMPTS = fileURLToPath(new URL('./decoder-attempts.ts', import.meta.url));
const ALL = [
  'read the environment of the media process',
  'read a file',
  'write a file',
  'write to a descriptor that was left open',
  'connect to Redis',
  'run a program',
  'signal the media process',
  'signal it past Node',
  'open a descriptor of it',
  'have memory that its size does not show',
  'have huge pages, which its size does not show either',
  'move memory to where its size does not show it either',
  'read pages until their table fills the memory',
  'wait for many descriptors at once, for each of which the system needs memory',
  'make a socket past Node',
];

/** Node closes the lower descriptors, up to the first one that is not open, when it starts a program. */
const LEFT_OUT = Array.from({ length: 30 }, () => 'ignore' as const);

/** @returns what a decoder can do that a picture has taken over */
const attempt = async (mode: 'confined' | 'free'): Promise<unknown> => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  refuseIoUring();
  const file = join(tmpdir(), `attempt-${process.pid}`);
  await using inherited = await open(file, 'w');
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc', ...LEFT_OUT, inherited.fd] as const;
  const child = fork(ATTEMPTS, [mode, String(port), file, String(stdio.length - 1)], {
    env: {},
    stdio: [...stdio],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return (await once(child, 'message'))[0];
};

test('a decoder that is taken over reaches no file, network, program or other process, and has no hidden memory', async () => {
  // Without the filter each attempt works: none of them fails for another reason.
  expect(await attempt('free')).toEqual(ALL);
  expect(await attempt('confined')).toEqual([]);
});

test('the decoder of the media process is confined, in every thread', async () => {
  const decoder = createDecoder();
  onTestFinished(decoder.close);
  expect(await decoder.check()).toBeUndefined();
  const tasks = `/proc/${decoder.pid()}/task`;
  const threads = await readdir(tasks);
  expect(threads.length).toBeGreaterThan(3);
  for (const thread of threads) {
    const status = await readFile(`${tasks}/${thread}/status`, 'utf8');
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
  }
});

test('where the system allows no filter, a fleet starts no media process, and the embedded mode says so', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => void lines.push(line) });
  const decoder = { ...createDecoder(), check: async () => 'the system refuses seccomp filters' };
  await expect(requireConfined(decoder, { isEmbedded: false, logger })).rejects.toThrow(
    'is not confined, because the system refuses seccomp filters',
  );
  expect(lines).toEqual([]);
  await requireConfined(decoder, { isEmbedded: true, logger });
  expect(lines.join()).toContain('is not confined');
});

test('a decoder that a busy machine starts slowly is checked, and not taken for a broken one', async () => {
  const decoder = createDecoder({ decodeMs: 1 });
  onTestFinished(decoder.close);
  expect(await decoder.check()).toBeUndefined();
});
