import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase } from '#db/client.ts';

const run = promisify(execFile);
const SIZE_MB = 64;

/** A real file system that is small enough to be filled to its last byte, with a tablespace on it. */
export type SmallDisk = {
  /** What lays a database on it: the end of `create database`. */
  clause: string;
  /** Leave not a page free. */
  fill: () => Promise<void>;
  free: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Only root on Linux may mount a disk. */
export const mayMount = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** Mount a small disk on the machine that the server of `adminUrl` runs on: this one. */
export const openSmallDisk = async (adminUrl: string): Promise<SmallDisk> => {
  await using opened = new AsyncDisposableStack();
  const admin = opened.adopt(openDatabase(adminUrl, { max: 1 }), (sql) => sql.end({ timeout: 1 }));
  const directory = opened.adopt(await mkdtemp(join(tmpdir(), 'catalogue-disk-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0700`, 'tmpfs', directory]);
  opened.defer(async () => void (await run('umount', ['--lazy', directory])));
  const [server] = await admin<{ data_directory: string }[]>`show data_directory`;
  const owner = await stat(server?.data_directory ?? '');
  await chown(directory, owner.uid, owner.gid);
  const name = `small_${randomBytes(4).toString('hex')}`;
  await admin.unsafe(`create tablespace ${name} location '${directory}'`);
  opened.defer(async () => void (await admin.unsafe(`drop tablespace ${name}`)));

  const ballast = join(directory, 'ballast');
  const all = opened.move();
  return {
    clause: `tablespace ${name}`,
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
