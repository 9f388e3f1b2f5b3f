import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { nameInput, openInput, refuseInput, STDIN } from '#src/cli/kit/read-input.ts';
import { ISSUE_WORDS } from '#src/contract/issue-words.ts';
import { UsageError } from '#src/errors.ts';

/** Longer than the line of any game. A description has up to 64 Ki characters, the addresses 400 KiB. */
const LINE_MAX = 4 * 1024 * 1024;

export type NumberedLine = { line: number; text: string };
export type WrongLine = { line: number; problem: string };

/** What stands in a line: a record, or why it is none. */
export type Line<Item = unknown> = { line: number; record: Item } | WrongLine;

export const parseJsonLine = ({ line, text }: NumberedLine): Line => {
  try {
    return { line, record: JSON.parse(text) as unknown };
  } catch {
    return { line, problem: 'is not JSON' };
  }
};

export const checkLine = <Item>(schema: z.ZodType<Item>, read: Line): Line<Item> => {
  if ('problem' in read) return read;
  const { success, data, error } = schema.safeParse(read.record, ISSUE_WORDS);
  if (success) return { line: read.line, record: data };
  const [issue] = error.issues;
  return { line: read.line, problem: [issue?.path.join('.'), issue?.message].join(' ').trim() };
};

/** An error names at most this many wrong lines. */
export const PROBLEMS_SHOWN = 20;

/** Makes one error of all wrong lines. @param count how many there are, if `problems` has only the first ones */
export const refuseLines = (
  what: string,
  problems: readonly WrongLine[],
  count = problems.length,
): UsageError => {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map(({ line, problem }) => `line ${line}: ${problem}`);
  const more = count > shown.length ? [`and ${count - shown.length} more`] : [];
  return new UsageError([what, ...shown, ...more].join('\n'));
};

/** A file whose lines are read as often as wanted. `name` is how errors name it. */
export type LinesFile = { name: string; handle: FileHandle };

/** A file without a name, which is gone when its handle is closed. */
const copyOf = async (input: Readable): Promise<FileHandle> => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-lines-'));
  const copy = await open(join(directory, 'lines'), 'wx+', 0o600);
  await rm(directory, { recursive: true });
  try {
    await copy.writeFile(input);
  } catch (error) {
    await copy.close();
    throw error;
  }
  return copy;
};

/**
 * Opens a file of lines, or stdin. Stdin and a pipe can be read once only, so they are copied.
 * @throws UsageError if it cannot be opened
 */
export const openLines = async (path: string, stdin: Readable): Promise<LinesFile & AsyncDisposable> => {
  const openHandle = async (): Promise<FileHandle> => {
    const isFile = path !== STDIN && (await stat(path)).isFile();
    return isFile ? open(path) : copyOf(openInput(path, stdin));
  };
  const handle = await openHandle().catch((error) => {
    throw refuseInput(path, error);
  });
  return { name: nameInput(path), handle, [Symbol.asyncDispose]: () => handle.close() };
};

/**
 * Reads the lines of a file one after another, without those that are empty. `readline` would also split at U+2028, which
 * JSON allows in a text.
 * @throws UsageError if the file cannot be read, or is not text in UTF-8
 */
export async function* readLines({ name, handle }: LinesFile): AsyncGenerator<NumberedLine, void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let rest = '';
  try {
    const options = { fd: handle.fd, start: 0, autoClose: false, highWaterMark: 1024 * 1024 };
    const chunks = createReadStream('', options);
    for await (const chunk of chunks) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        line += 1;
        if (text.trim() !== '') yield { line, text };
      }
      if (rest.length > LINE_MAX) throw new Error(`line ${line + 1} is longer than ${LINE_MAX} characters`);
    }
    rest += decoder.decode();
  } catch (error) {
    throw refuseInput(name, error);
  }
  if (rest.trim() !== '') yield { line: line + 1, text: rest };
}
