import { readdir, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { STDIN } from '#src/cli/kit/read-input.ts';
import { openLines } from '#src/cli/kit/read-lines.ts';
import { UsageError } from '#src/errors.ts';

/** The copies that this process has open. */
const openCopies = async (): Promise<string[]> => {
  const files = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(files)).filter((file) => file.includes('catalogue-lines-'));
};

/** Collects garbage. @returns the errors of handles that were not closed, or closed by another */
const collect = async (): Promise<unknown[]> => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const errors: unknown[] = [];
  const listen = (error: unknown) => errors.push(error);
  process.on('uncaughtException', listen);
  onTestFinished(() => void process.off('uncaughtException', listen));
  for (let n = 0; n < 5; n += 1) {
    gc();
    await setImmediate();
  }
  return errors;
};

const broken = () =>
  new Readable({
    read() {
      this.destroy(new Error('the other end is gone'));
    },
  });

test.each([
  ['a directory', tmpdir(), () => Readable.from([])],
  ['stdin that breaks', STDIN, broken],
])('%s is refused, and its copy is closed', async (_what, path, stdin) => {
  await expect(openLines(path, stdin())).rejects.toThrow(UsageError);
  expect(await openCopies()).toEqual([]);
  expect(await collect()).toEqual([]);
});

test('the copy of stdin is open until its lines are read', async () => {
  {
    await using file = await openLines(STDIN, Readable.from(['{}\n']));
    expect(file.name).toBe('stdin');
    expect(await openCopies()).toHaveLength(1);
  }
  expect(await openCopies()).toEqual([]);
});
