import { createReadStream } from 'node:fs';
import { UsageError } from '#src/errors.ts';

/** Longer than the line of any game: a description has up to 64 Ki characters, the addresses 400 KiB. */
const LINE_MAX = 4 * 1024 * 1024;

export type NumberedLine = { line: number; text: string };
export type WrongLine = { line: number; problem: string };

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

/**
 * Reads the lines of a file one after another, without those that are empty. `readline` would also split at U+2028, which
 * JSON allows in a text.
 * @throws UsageError if the file cannot be read, or is not text in UTF-8
 */
export async function* readLines(path: string): AsyncGenerator<NumberedLine, void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let rest = '';
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
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
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (rest.trim() !== '') yield { line: line + 1, text: rest };
}
