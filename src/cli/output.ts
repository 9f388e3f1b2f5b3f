import Table from 'cli-table3';
import { formatTime } from '#src/cli/format.ts';

type Field<Row> = keyof Row & string;

/**
 * A field of the row, or a header and the source of its values: a field or a function. The header of a field is the
 * field's name without `_at`.
 */
export type Column<Row> = Field<Row> | NamedColumn<Row>;
type Columns<Row> = readonly Column<Row>[];
type NamedColumn<Row> = readonly [header: string, value: Field<Row> | ((row: Row) => unknown)];

/**
 * Prints the result of a command on stdout: text, or one JSON document with `--json`. Notes and errors go to stderr.
 * Replaces or escapes control characters in text that came from applications.
 */
export type Output = {
  json: boolean;
  /** With `--json`, prints a JSON document; otherwise nothing. */
  document: (document: unknown) => void;
  /** Without `--json`, prints a line of text; otherwise nothing. */
  line: (text?: string) => void;
  table: <Row>(rows: readonly Row[], columns: Columns<Row>) => void;
  /** With `--json`, prints the document; otherwise the lines. */
  answer: (document: unknown, ...lines: string[]) => void;
  /** With `--json`, prints the document; otherwise a table of the rows, or the line `empty` if there are none. */
  list: <Row>(document: unknown, rows: readonly Row[], columns: Columns<Row>, empty: string) => void;
  /** With `--json`, prints the document; otherwise a table with one row for each of `fields`. */
  record: (document: object, fields?: object) => void;
  note: (text: string) => void;
  /** Prints an error. It may have several lines: a list of problems, a stack trace. */
  error: (text: string) => void;
};

/** The names that cli-table3 gives to the parts of a border, each with an empty text: the table has no border. */
const BORDERS = ['top', 'bottom', 'left', 'right', 'mid'].flatMap((part) =>
  ['', '-mid', '-left', '-right'].map((end) => [`${part}${end}`, '']),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Makes one line without control characters: applications choose the names and ids that a terminal shows. */
const printable = (text: string): string =>
  text.replaceAll(/[\t\n\v\f\r\u2028\u2029]/g, ' ').replaceAll(CONTROL, '\ufffd');

const cellText = (value: unknown): string =>
  printable((value instanceof Date ? formatTime(value) : String(value ?? '')).replaceAll(/\s+/g, ' '));

/** Escapes all control characters: `JSON.stringify` escapes only those below U+0020. */
const escapeControl = (json: string): string =>
  json.replaceAll(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const renderTable = <Row>(rows: readonly Row[], columns: Columns<Row>): string => {
  const resolved = columns.map((column) => {
    const [header, value]: NamedColumn<Row> =
      typeof column === 'object' ? column : [column.replace(/_at$/, ''), column];
    const read = typeof value === 'function' ? value : (row: Row): unknown => row[value];
    return { header, cells: rows.map(read) };
  });
  const table = new Table({
    head: resolved.map(({ header }) => header),
    colAligns: resolved.map(({ cells }) => (cells.every(Number.isFinite) ? 'right' : 'left')),
    chars: { ...Object.fromEntries(BORDERS), middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  for (const index of rows.keys()) table.push(resolved.map(({ cells }) => cellText(cells[index])));
  return table.toString();
};

export const createOutput = (json: boolean): Output => {
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  const out: Output = {
    json,
    document: (document) => {
      if (json) print(escapeControl(JSON.stringify(document)));
    },
    line: (text = '') => {
      if (!json) print(printable(text));
    },
    table: (rows, columns) => {
      if (!json) print(renderTable(rows, columns));
    },
    answer: (document, ...lines) => {
      out.document(document);
      for (const line of lines) out.line(line);
    },
    list: (document, rows, columns, empty) => {
      out.document(document);
      if (rows.length === 0) out.line(empty);
      else out.table(rows, columns);
    },
    record: (document, fields = document) => {
      out.document(document);
      out.table(Object.entries(fields), [
        ['field', ([field]) => field],
        ['value', ([, value]) => String(value instanceof Date ? formatTime(value) : (value ?? ''))],
      ]);
    },
    note: (text) => void process.stderr.write(`${printable(text)}\n`),
    error: (text) => void process.stderr.write(`catalogue: ${text.split('\n').map(printable).join('\n')}\n`),
  };
  return out;
};
