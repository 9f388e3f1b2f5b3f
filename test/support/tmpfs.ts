import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SIZE_MB = 64;

/** A real file system that is small enough to be filled to its last byte. */
export type SmallFileSystem = {
  directory: string;
  /** Leaves not a page free. */
  fill: () => Promise<void>;
  free: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Only root on Linux may mount a disk. */
export const mayMount = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** Mounts a small file system. */
export const openTmpfs = async (): Promise<SmallFileSystem> => {
  await using opened = new AsyncDisposableStack();
  const directory = opened.adopt(await mkdtemp(join(tmpdir(), 'catalogue-disk-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0700`, 'tmpfs', directory]);
  opened.defer(async () => void (await run('umount', ['--lazy', directory])));
  const ballast = join(directory, 'ballast');
  const all = opened.move();
  return {
    directory,
    fill: () => writeUntilFull(ballast),
    free: () => rm(ballast, { force: true }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};

const writeUntilFull = async (path: string): Promise<void> => {
  await using file = await open(path, 'a');
  for (const bytes of [1_048_576, 4_096]) {
    const chunk = Buffer.alloc(bytes);
    try {
      for (;;) await file.write(chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
};
