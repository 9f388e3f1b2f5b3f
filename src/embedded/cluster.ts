import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Place } from '#src/embedded/place.ts';
import { CatalogueError } from '#src/errors.ts';

const run = promisify(execFile);

/** The superuser of every embedded instance. */
export const SUPERUSER = 'catalogue';

export const dataDirectoryOf = (place: Place): string => join(place.directory, 'data');

/** Postgres's programs see nothing of our environment: no PGDATA, no locale this machine may lack. */
export const POSTGRES_ENV = { LC_ALL: 'C', TZ: 'UTC' };

/** initdb works under this name; the data directory appears under its own only when complete. */
const UNFINISHED = 'data.unfinished-';

/** An initdb that outlived its starter may still be adding files while we remove them. */
const REMOVE = { recursive: true, force: true, maxRetries: 20 };

/**
 * Creates the data directory unless there is one: UTF-8 through Postgres's own locale provider (no locale of
 * the machine is needed), scram passwords, page checksums. Call it with the place locked.
 *
 * @param sync false leaves the files to the operating system, for data that need not survive a power cut.
 * @throws CatalogueError with what initdb said.
 */
export const createCluster = async (
  place: Place,
  { sync, onProgress }: { sync: boolean; onProgress: (message: string) => void },
): Promise<void> => {
  for (const name of await readdir(place.directory)) {
    if (name.startsWith(UNFINISHED)) await rm(join(place.directory, name), REMOVE);
  }
  const exists = await stat(dataDirectoryOf(place)).catch(() => null);
  if (exists !== null) return;
  onProgress(`Creating a Postgres database in ${place.directory}`);

  const unfinished = await mkdtemp(join(place.directory, UNFINISHED));
  const passwordFile = `${unfinished}.password`;
  await writeFile(passwordFile, `${place.password}\n`, { mode: 0o600 });
  if (place.user !== null) {
    await chown(unfinished, place.user.uid, place.user.gid);
    await chown(passwordFile, place.user.uid, place.user.gid);
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
    await run(place.binaries.initdb, args, { cwd: place.directory, env: POSTGRES_ENV, ...place.user });
  } catch (cause) {
    const said = String((cause as { stderr?: string }).stderr ?? cause).trim();
    throw new CatalogueError(`Postgres could not create its data directory in ${place.directory}: ${said}`, {
      cause,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, dataDirectoryOf(place));
};
