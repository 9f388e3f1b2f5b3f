import { randomBytes } from 'node:crypto';
import { chown, stat } from 'node:fs/promises';
import { openDatabase } from '#db/client.ts';
import { openTmpfs } from '#test/support/tmpfs.ts';

/** A real file system that is small enough to be filled to its last byte, with a tablespace on it. */
export type SmallDisk = {
  /** What lays a database on it: the end of `create database`. */
  clause: string;
  /** Leave not a page free. */
  fill: () => Promise<void>;
  free: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Mount a small disk on the machine that the server of `adminUrl` runs on: this one. */
export const openSmallDisk = async (adminUrl: string): Promise<SmallDisk> => {
  await using opened = new AsyncDisposableStack();
  const admin = opened.adopt(openDatabase(adminUrl, { max: 1 }), (sql) => sql.end({ timeout: 1 }));
  const { directory, fill, free } = opened.use(await openTmpfs());
  const [server] = await admin<{ data_directory: string }[]>`show data_directory`;
  const owner = await stat(server?.data_directory ?? '');
  await chown(directory, owner.uid, owner.gid);
  const name = `small_${randomBytes(4).toString('hex')}`;
  await admin.unsafe(`create tablespace ${name} location '${directory}'`);
  opened.defer(async () => void (await admin.unsafe(`drop tablespace ${name}`)));

  const all = opened.move();
  return {
    clause: `tablespace ${name}`,
    fill,
    free,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};
