import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Binaries, canRun, copyBinaries, findBinaries } from '#src/embedded/binaries.ts';
import { CatalogueError } from '#src/errors.ts';
import { readOrCreateFile } from '#src/lib/read-or-create-file.ts';

const run = promisify(execFile);

/** The user that runs Postgres when we are root, because Postgres refuses to run as root. */
type SystemUser = { uid: number; gid: number };

/** The files and programs of one home's Postgres. */
export type Cluster = {
  /** Contains the data directory, the log and the lock. */
  directory: string;
  data: string;
  /** The superuser's password, generated once per home. */
  password: string;
  binaries: Binaries;
  /** Null: Postgres runs as the user of this process. */
  user: SystemUser | null;
};

/** The superuser of every embedded instance. */
export const SUPERUSER = 'catalogue';

/** The whole environment of Postgres's programs: no PGDATA, and no locale that this machine may lack. */
export const POSTGRES_ENV = { LC_ALL: 'C', TZ: 'UTC' };

const SYSTEM_USER = 'postgres';
/** Contains root's data and binaries when the system user cannot reach the home or the checkout. */
const SYSTEM_DIRECTORY = '/var/lib/game-catalogue';

/** `postgres.json` in the home. `directory` is relative when it is inside the home, because a checkout can be moved. */
const recordSchema = z.object({ directory: z.string(), password: z.string() });
type HomeRecord = z.infer<typeof recordSchema>;

/**
 * Opens the cluster of `home`; the first call chooses its directory and records it in the home. For root, a directory
 * below /var/lib replaces a home or binaries that the user `postgres` cannot reach (a checkout below /root).
 *
 * @throws CatalogueError when the binaries do not run here, or the user `postgres` cannot be created.
 */
export const openCluster = async (home: string, onProgress: (message: string) => void): Promise<Cluster> => {
  const user = process.getuid?.() === 0 ? ((await findSystemUser()) ?? (await createSystemUser())) : null;
  await makeDirectory(home, user);
  const record = await openRecord(home, user);
  const directory = resolve(home, record.directory);
  await makeDirectory(directory, user);
  const installed = findBinaries();
  const binaries = await chooseBinaries(installed, user);

  const elsewhere: string[] = [];
  if (isAbsolute(record.directory)) {
    // Names the home, for an administrator who cleans up below /var/lib.
    await writeFile(join(directory, 'home'), `${home}\n`);
    elsewhere.push(`its data is in ${directory}`);
  }
  if (binaries !== installed) elsewhere.push(`its programs are in ${SYSTEM_DIRECTORY}`);
  if (elsewhere.length > 0) {
    onProgress(`Postgres can't run as root and its own user can't reach this place: ${elsewhere.join(', ')}`);
  }
  return { directory, data: join(directory, 'data'), password: record.password, binaries, user };
};

const findSystemUser = async (): Promise<SystemUser | null> => {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', SYSTEM_USER]), run('id', ['-g', SYSTEM_USER])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
};

const createSystemUser = async (): Promise<SystemUser> => {
  let cause: unknown;
  const options = ['--system', '--gid', SYSTEM_USER, '--no-create-home', '--shell', '/usr/sbin/nologin'];
  try {
    await run('groupadd', ['--system', '--force', SYSTEM_USER]);
    await run('useradd', [...options, SYSTEM_USER]);
  } catch (error) {
    cause = error;
  }
  // Another process may have created it at the same time.
  const found = await findSystemUser();
  if (found !== null) return found;
  throw new CatalogueError(
    `Postgres refuses to run as root, and the user "${SYSTEM_USER}" to run it as could not be created. Create that user, start as an ordinary user, or set DATABASE_URL to your own Postgres server.`,
    { cause },
  );
};

/** Creates a directory for our user alone. For root, the system user's group can pass through it but not list it. */
const makeDirectory = async (directory: string, user: SystemUser | null): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (user === null) return;
  const { mode, uid } = await stat(directory);
  if (uid !== 0 || mode & 0o001) return;
  await chown(directory, 0, user.gid);
  await chmod(directory, (mode & 0o777) | 0o010);
};

/** Returns the `directory` of a new record. */
const chooseDirectory = async (home: string, user: SystemUser | null): Promise<string> => {
  const directory = join(home, 'postgres');
  await makeDirectory(directory, user);
  if (await canRun('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], user)) return relative(home, directory);
  await rmdir(directory).catch(() => undefined);
  return join(await makeSystemDirectory(), randomUUID());
};

const makeSystemDirectory = async (): Promise<string> => {
  await mkdir(SYSTEM_DIRECTORY, { recursive: true });
  // mkdir applies the umask; other users must be able to pass.
  await chmod(SYSTEM_DIRECTORY, 0o755);
  return SYSTEM_DIRECTORY;
};

const chooseBinaries = async (installed: Binaries, user: SystemUser | null): Promise<Binaries> => {
  const runs = (binaries: Binaries) => canRun(binaries.postgres, ['--version'], user);
  if (await runs(installed)) return installed;
  if (user !== null) {
    const copied = await copyBinaries(installed, await makeSystemDirectory());
    if (await runs(copied)) return copied;
  }
  throw new CatalogueError(
    `The Postgres that npm installed does not run here (try ${installed.postgres} --version). Run npm rebuild ${installed.package}, or set DATABASE_URL to your own Postgres server.`,
  );
};

/** Reads the record of the home. The first process creates it. */
const openRecord = async (home: string, user: SystemUser | null): Promise<HomeRecord> => {
  const text = await readOrCreateFile(join(home, 'postgres.json'), async () => {
    const directory = await chooseDirectory(home, user);
    return JSON.stringify({ directory, password: randomBytes(24).toString('hex') } satisfies HomeRecord);
  });
  return recordSchema.parse(JSON.parse(text));
};

/** Returns the data directory of a home. @throws Error if the home has no Postgres yet */
export const findData = async (home: string): Promise<string> => {
  const { directory } = recordSchema.parse(JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8')));
  return join(resolve(home, directory), 'data');
};

/** initdb works in a directory with this prefix, which is renamed when it is complete. */
const UNFINISHED = 'data.unfinished-';

/** An initdb that outlived its parent may still add files while they are removed. */
const REMOVE = { recursive: true, force: true, maxRetries: 20 };

/**
 * Runs initdb unless there is a data directory: UTF-8 with Postgres's builtin locale provider (needs no locale of the
 * machine), scram passwords, page checksums. The caller has locked the cluster's directory.
 *
 * @param options.sync false: data need not survive a power cut
 * @throws CatalogueError with the output of initdb
 */
export const initializeData = async (
  { directory, data, password, binaries, user }: Cluster,
  { sync, onProgress }: { sync: boolean; onProgress: (message: string) => void },
): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (name.startsWith(UNFINISHED)) await rm(join(directory, name), REMOVE);
  }
  if ((await stat(data).catch(() => null)) !== null) return;
  onProgress(`Creating a Postgres database in ${directory}`);

  const unfinished = await mkdtemp(join(directory, UNFINISHED));
  const passwordFile = `${unfinished}.password`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== null) {
    for (const path of [unfinished, passwordFile]) await chown(path, user.uid, user.gid);
  }
  const args = [
    `--pgdata=${unfinished}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(sync ? [] : ['--no-sync']),
  ];
  try {
    await run(binaries.initdb, args, { cwd: directory, env: POSTGRES_ENV, ...user });
  } catch (cause) {
    const output = String((cause as { stderr?: string }).stderr ?? cause).trim();
    throw new CatalogueError(`Postgres could not create its data directory in ${directory}: ${output}`, {
      cause,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, data);
};
