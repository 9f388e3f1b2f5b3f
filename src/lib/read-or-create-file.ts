import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';

const hasCode = (thrown: unknown, code: string): boolean => (thrown as NodeJS.ErrnoException).code === code;

/**
 * Reads a file. If it does not exist, creates it with mode 0600, complete from its first moment. Of processes that create
 * it at once, all return the content of the first.
 * @throws Error of the file system if the file is unreadable or cannot be created
 */
export const readOrCreateFile = async (
  file: string,
  create: () => string | Promise<string>,
): Promise<string> => {
  const existing = await readFile(file, 'utf8').catch((error: unknown) =>
    hasCode(error, 'ENOENT') ? undefined : Promise.reject(error),
  );
  if (existing !== undefined) return existing;
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, await create(), { flag: 'wx', mode: 0o600, flush: true });
    // A link, unlike a rename, never replaces the file of another process.
    await link(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
};
