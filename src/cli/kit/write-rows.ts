import { once } from 'node:events';
import type { Output } from '#src/cli/kit/output.ts';
import { escapeUnprintable, toPrintable } from '#src/lib/printable.ts';

/**
 * Finds where a spreadsheet would read a formula, full-width signs included: at the start of a text, and after each
 * semicolon and line break, because programs of many countries separate cells by semicolons, and then ignore our quotes and
 * drop empty ones.
 */
const FORMULA = /(?<=^|[;\n])(?=[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

const toCell = (value: unknown): string => {
  const isDocument = typeof value === 'object' && value !== null && !(value instanceof Date);
  const plain = value instanceof Date ? value.toISOString() : String(value ?? '');
  // A terminal may show the text, so of its control characters only line breaks stay.
  const text = isDocument
    ? escapeUnprintable(JSON.stringify(value)).replaceAll(';', '\\u003b')
    : plain.split('\n').map(toPrintable).join('\n');
  const safe = typeof value === 'string' ? text.replaceAll(FORMULA, "'") : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const ROW_FORMATS = ['ndjson', 'csv'] as const;

/**
 * Writes rows to stdout as they come: one JSON document a line, or CSV with a header (RFC 4180). A reader that is slow
 * slows the caller.
 */
export const writeRows = async <Row extends object>(
  { stdio: { stdout } }: Output,
  format: (typeof ROW_FORMATS)[number],
  columns: readonly (keyof Row & string)[],
  pages: AsyncIterable<readonly Row[]>,
): Promise<void> => {
  const end = format === 'csv' ? '\r\n' : '\n';
  const write = async (lines: readonly string[]): Promise<void> => {
    if (lines.length > 0 && !stdout.write(`${lines.join(end)}${end}`) && !stdout.destroyed)
      await once(stdout, 'drain');
  };
  const toLine = (row: Row): string =>
    format === 'csv'
      ? columns.map((name) => toCell(row[name])).join(',')
      : escapeUnprintable(JSON.stringify(row));
  if (format === 'csv') await write([columns.join(',')]);
  for await (const rows of pages) await write(rows.map(toLine));
};
