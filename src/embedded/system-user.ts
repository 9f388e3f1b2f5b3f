import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CatalogueError } from '#src/errors.ts';

const run = promisify(execFile);

/** Whom Postgres runs as when we are root, which it refuses to be. */
export type SystemUser = { uid: number; gid: number };

const NAME = 'postgres';

const lookUp = async (): Promise<SystemUser | null> => {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', NAME]), run('id', ['-g', NAME])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
};

const create = async (): Promise<SystemUser | null> => {
  try {
    await run('groupadd', ['--system', '--force', NAME]);
    await run('useradd', [
      '--system',
      '--gid',
      NAME,
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      NAME,
    ]);
  } catch (cause) {
    const found = await lookUp();
    // Another start may have created it at the same time.
    if (found !== null) return found;
    throw new CatalogueError(
      `Postgres refuses to run as root, and the user "${NAME}" to run it as could not be created. Create that user, start as an ordinary user, or set DATABASE_URL to a Postgres server of your own.`,
      { cause },
    );
  }
  return lookUp();
};

/**
 * The user that runs Postgres: null for "as ourselves"; as root the system user `postgres`, created if need be.
 *
 * @throws CatalogueError when we are root and there can be no such user.
 */
export const chooseSystemUser = async (): Promise<SystemUser | null> =>
  process.getuid?.() === 0 ? ((await lookUp()) ?? (await create())) : null;

/** Does this program run to success as that user? Tried, not computed: file modes are only a part of it. */
export const canRun = async (program: string, args: string[], user: SystemUser | null): Promise<boolean> => {
  try {
    await run(program, args, { cwd: '/', ...user });
    return true;
  } catch {
    return false;
  }
};

/** Can that user get into this directory? */
export const canEnter = (directory: string, user: SystemUser | null): Promise<boolean> =>
  canRun('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], user);
