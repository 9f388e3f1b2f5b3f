import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a turn of a chore keeps nothing: a worker does 86,400 a day', async () => {
  const args = ['--expose-gc', 'test/support/chore-memory.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  // A race with a promise that lives as long as the process kept 256 bytes a turn.
  expect(Number.parseInt(stdout, 10)).toBeLessThan(60);
});
