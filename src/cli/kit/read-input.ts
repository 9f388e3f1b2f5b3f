import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { coerceError, UsageError } from '#src/errors.ts';

/** A path that means stdin, for containers, which have no files of their operator. */
export const STDIN = '-';

/** How errors name the input of a path. */
export const nameInput = (path: string): string => (path === STDIN ? 'stdin' : path);

export const openInput = (path: string, stdin: Readable): Readable =>
  path === STDIN ? stdin : createReadStream(path);

/** @returns the error of an input that cannot be read */
export const refuseInput = (path: string, thrown: unknown): UsageError => {
  const cause = coerceError(thrown);
  return new UsageError(`${nameInput(path)} cannot be read: ${cause.message}`, { cause });
};

/** Reads a file, or stdin, without a byte order mark. @throws UsageError if it cannot be read, or is not text in UTF-8 */
export const readInput = async (path: string, stdin: Readable): Promise<string> => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await buffer(openInput(path, stdin)));
  } catch (error) {
    throw refuseInput(path, error);
  }
};
