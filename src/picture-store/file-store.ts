import { randomUUID } from 'node:crypto';
import {
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { STORE_AREAS, type StoreArea } from '#src/contract/pictures.ts';
import { StoreError, type StoreErrorCode } from '#src/picture-store/errors.ts';
import { nameOfPicture, PICTURE_BYTES_MAX, type PictureStore } from '#src/picture-store/store.ts';

const CODES: Record<string, StoreErrorCode> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOENT: 'not_there',
  ENOTDIR: 'not_there',
};

const isNotThere = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** A file that is being written. A crash leaves it, and it is no picture. */
const TEMPORARY = /^\.[0-9a-f-]{36}\.tmp$/;

/** The path of a picture: `ab/ab12….png`. A directory has a few thousand files at a million pictures. */
export const pathInArea = (name: string): string => join(name.slice(0, 2), name);

/** Errors of a path that has no picture: nothing, a link, a file in place of a directory, or a socket is there. */
const NO_PICTURE: ReadonlySet<unknown> = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO']);

/** What Linux adds to the path of an opened file in whose place another one was put. */
const REPLACED = / \(deleted\)$/;

/** Is this the file of this path, and of no folder that is a link? Only Linux says where an opened file is. */
const isAt = async (file: FileHandle, directory: string, path: string): Promise<boolean> =>
  process.platform !== 'linux' ||
  (await readlink(`/proc/self/fd/${file.fd}`)).replace(REPLACED, '') ===
    join(await realpath(directory), path);

/**
 * Opens a picture. The media process writes the store. If it is compromised, a link there could name any file that this
 * process may read, and a pipe could block it.
 * @returns undefined if there is no file of this name
 */
export const openPicture = async (
  directory: string,
  area: StoreArea,
  name: string,
): Promise<{ file: FileHandle; size: number } | undefined> => {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const path = join(area, pathInArea(name));
  const file = await open(join(directory, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (NO_PICTURE.has(error.code)) return undefined;
      throw error;
    },
  );
  if (file === undefined) return undefined;
  // Node ends a process that forgets an open file.
  await using opened = new AsyncDisposableStack();
  opened.use(file);
  const stats = await file.stat();
  if (!stats.isFile() || stats.size === 0 || !(await isAt(file, directory, path))) return undefined;
  opened.move();
  return { file, size: stats.size };
};

/** Makes the directories of a store that has no picture yet. Other users of the machine can read public pictures only. */
export const createFileStore = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true });
  for (const area of STORE_AREAS)
    await mkdir(join(directory, area), { recursive: true, mode: area === 'passed' ? 0o755 : 0o750 });
};

/**
 * A store in a directory, which processes share. Without its areas it is `not_there`, because its volume is not mounted. An
 * empty directory in its place would read as the loss of every picture.
 */
export const openFileStore = (directory: string): PictureStore => {
  const guard = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      throw new StoreError(CODES[code] ?? 'failed', `file:${directory}`, code);
    }
  };
  const pathOf = (area: StoreArea, name: string): string => join(directory, area, pathInArea(name));

  /** Makes the names of a directory last, so that a picture which is said to be stored survives a loss of power. */
  const syncDirectory = async (path: string): Promise<void> => {
    await using opened = await open(path, 'r');
    await opened.sync();
  };

  /** Makes the folder of a name, and not the area above it. */
  const makeFolder = (path: string): Promise<void> =>
    mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });

  /** A rename within a file system shows the whole file or none. */
  const write = async (path: string, bytes: Buffer): Promise<void> => {
    const folder = dirname(path);
    await makeFolder(folder);
    const temporary = join(folder, `.${randomUUID()}.tmp`);
    try {
      {
        await using file = await open(temporary, 'wx', 0o644);
        await file.writeFile(bytes);
        await file.sync();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncDirectory(folder);
  };

  const exists = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      (error: unknown) => {
        if (isNotThere(error)) return false;
        throw error;
      },
    );

  return {
    put: (area, picture, bytes) => guard(() => write(pathOf(area, nameOfPicture(picture)), bytes)),
    move: (to, picture) =>
      guard(async () => {
        const name = nameOfPicture(picture);
        const [from, target] = [pathOf(to === 'passed' ? 'seen' : 'passed', name), pathOf(to, name)];
        await makeFolder(dirname(target));
        try {
          await rename(from, target);
        } catch (error) {
          if (!isNotThere(error)) throw error;
          if (!(await exists(target))) throw new StoreError('missing', `file:${directory}`, name);
          return;
        }
        await syncDirectory(dirname(target));
      }),
    read: (area, name) =>
      guard(async () => {
        const found = await openPicture(directory, area, name);
        if (found === undefined) await stat(join(directory, area));
        return found && buffer(found.file.createReadStream({ end: PICTURE_BYTES_MAX }));
      }),
    delete: (area, name) => guard(() => rm(pathOf(area, name), { force: true })),
    list: async function* (area) {
      const namesIn = (path: string) =>
        guard(() =>
          readdir(path).catch((error: unknown) => {
            if (isNotThere(error)) return [];
            throw error;
          }),
        );
      for (const folder of (await namesIn(join(directory, area))).toSorted())
        for (const name of (await namesIn(join(directory, area, folder))).toSorted()) {
          if (TEMPORARY.test(name)) continue;
          const found = await stat(join(directory, area, folder, name)).catch(() => undefined);
          if (found?.isFile()) yield { area, name, bytes: found.size };
        }
    },
    close: () => {},
  };
};
