import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, chown, link, mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { type Binaries, copyBinaries, findBinaries } from '#src/embedded/binaries.ts';
import { canEnter, canRun, chooseSystemUser, type SystemUser } from '#src/embedded/system-user.ts';
import { CatalogueError } from '#src/errors.ts';

/** Everything a start needs to know about where one home's Postgres lives and how it is run. */
export type Place = {
  /** Holds the data directory, the log and the lock. */
  directory: string;
  /** Of the superuser; made once per home. */
  password: string;
  binaries: Binaries;
  /** Whom Postgres runs as; null: as ourselves. */
  user: SystemUser | null;
};

/** Where root's Postgres lives when its user can't reach the home. */
const SYSTEM_DIRECTORY = '/var/lib/game-catalogue';

/** `postgres.json` in the home. `directory` is relative when inside the home, so that a checkout may be moved. */
const recordSchema = z.object({ directory: z.string(), password: z.string() });
type HomeRecord = z.infer<typeof recordSchema>;

/**
 * Opens the place of `home`'s Postgres, making it at the first start. For root, a home or binaries that the
 * user `postgres` can't reach (a checkout below /root) are replaced by a directory below /var/lib, which the
 * home records.
 *
 * @throws CatalogueError when the binaries don't run here.
 */
export const openPlace = async (home: string, onProgress: (message: string) => void): Promise<Place> => {
  const user = await chooseSystemUser();
  await makeDirectory(home, user);
  const record = (await readRecord(home)) ?? (await createRecord(home, await chooseDirectory(home, user)));
  const directory = resolve(home, record.directory);
  await makeDirectory(directory, user);
  const { binaries, copied } = await chooseBinaries(user);

  const elsewhere: string[] = [];
  if (isAbsolute(record.directory)) {
    // Tells who cleans up below /var/lib whose data this is.
    await writeFile(join(directory, 'home'), `${home}\n`);
    elsewhere.push(`its data is in ${directory}`);
  }
  if (copied) elsewhere.push(`its programs are in ${SYSTEM_DIRECTORY}`);
  if (elsewhere.length > 0) {
    onProgress(`Postgres can't run as root and its own user can't reach this place: ${elsewhere.join(', ')}`);
  }
  return { directory, password: record.password, binaries, user };
};

/** A directory of ours alone; for root also passable, not readable, for the group of Postgres's user. */
const makeDirectory = async (directory: string, user: SystemUser | null): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (user === null) return;
  const { mode, uid } = await stat(directory);
  if (uid !== 0 || mode & 0o001) return;
  await chown(directory, 0, user.gid);
  await chmod(directory, (mode & 0o777) | 0o010);
};

/** What the record will say. */
const chooseDirectory = async (home: string, user: SystemUser | null): Promise<string> => {
  const directory = join(home, 'postgres');
  await makeDirectory(directory, user);
  if (await canEnter(directory, user)) return relative(home, directory);
  await rmdir(directory).catch(() => undefined);
  return join(await makeSystemDirectory(), randomUUID());
};

const makeSystemDirectory = async (): Promise<string> => {
  await mkdir(SYSTEM_DIRECTORY, { recursive: true });
  // Whatever the umask: others must be able to pass.
  await chmod(SYSTEM_DIRECTORY, 0o755);
  return SYSTEM_DIRECTORY;
};

const chooseBinaries = async (user: SystemUser | null): Promise<{ binaries: Binaries; copied: boolean }> => {
  const installed = findBinaries();
  const runs = (binaries: Binaries) => canRun(binaries.postgres, ['--version'], user);
  if (await runs(installed)) return { binaries: installed, copied: false };
  if (user !== null) {
    const binaries = await copyBinaries(installed, await makeSystemDirectory());
    if (await runs(binaries)) return { binaries, copied: true };
  }
  throw new CatalogueError(
    `The Postgres that npm installed does not run here (try ${installed.postgres} --version). Run npm rebuild ${installed.package}, or set DATABASE_URL to a Postgres server of your own.`,
  );
};

const recordFile = (home: string): string => join(home, 'postgres.json');

const readRecord = async (home: string): Promise<HomeRecord | null> => {
  let text: string;
  try {
    text = await readFile(recordFile(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return recordSchema.parse(JSON.parse(text));
};

/** Writes the record, complete or not at all; when two processes do so at once, both return the first one's. */
const createRecord = async (home: string, directory: string): Promise<HomeRecord> => {
  const record: HomeRecord = {
    directory,
    password: randomBytes(24).toString('hex'),
  };
  const draft = `${recordFile(home)}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
  try {
    await link(draft, recordFile(home));
    return record;
  } catch (error) {
    const first = await readRecord(home);
    if (first === null) throw error;
    return first;
  } finally {
    await rm(draft);
  }
};
