import { formatTime } from '#src/cli/format.ts';
import { showInPager } from '#src/cli/pager.ts';
import { renderRecord, renderTable, type TableColumn } from '#src/cli/table.ts';

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
  /** Without `--json`, prints lines that may have colours. Text of applications in them must be `printable`. */
  styled: (lines: readonly string[]) => void;
  table: <Row>(rows: readonly Row[], columns: Columns<Row>) => void;
  /** With `--json`, prints the document; otherwise the lines. */
  answer: (document: unknown, ...lines: string[]) => void;
  /** With `--json`, prints the document; otherwise a table of the rows, or the line `empty` if there are none. */
  list: <Row>(document: unknown, rows: readonly Row[], columns: Columns<Row>, empty: string) => void;
  /** With `--json`, prints the document; otherwise a line `field: value` for each of `fields`. */
  record: (document: object, fields?: object) => void;
  note: (text: string) => void;
  /** Prints an error. It may have several lines: a list of problems, a stack trace. */
  error: (text: string) => void;
  /** Shows what a paged command printed; `pager` is a shell command. */
  end: (pager: string | undefined) => Promise<void>;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Makes one line without control characters: applications choose the names and ids that a terminal shows. */
export const printable = (text: string): string =>
  text.replaceAll(/[\t\n\v\f\r\u2028\u2029]/g, ' ').replaceAll(CONTROL, '\ufffd');

const cellText = (value: unknown): string =>
  printable((value instanceof Date ? formatTime(value) : String(value ?? '')).replaceAll(/\s+/g, ' '));

/** Escapes all control characters: `JSON.stringify` escapes only those below U+0020. */
const escapeControl = (json: string): string =>
  json.replaceAll(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Without a terminal on stdout, lines are not cut. */
const terminalWidth = (): number => process.stdout.columns ?? Number.POSITIVE_INFINITY;

const toTableColumn = <Row>(rows: readonly Row[], column: Column<Row>): TableColumn => {
  const [header, value]: NamedColumn<Row> =
    typeof column === 'object' ? column : [column.replace(/_at$/, ''), column];
  const values = rows.map(typeof value === 'function' ? value : (row: Row): unknown => row[value]);
  const isTime = values.some((each) => each instanceof Date);
  const kind = values.every(Number.isFinite) ? 'number' : isTime ? 'fixed' : 'text';
  return { header, cells: values.map(cellText), kind };
};

/** Each element of a list, or one text. */
const fieldText = (value: unknown): string | string[] =>
  Array.isArray(value) ? value.map(cellText) : cellText(value);

/**
 * @param mode.paged collects what goes to a terminal, so that `end` can show it in a pager
 */
export const createOutput = ({ json, paged }: { json: boolean; paged: boolean }): Output => {
  const collected: string[] | undefined = paged && !json && process.stdout.isTTY ? [] : undefined;
  const print = (text: string): void => {
    if (collected === undefined) process.stdout.write(`${text}\n`);
    else collected.push(text);
  };
  const styled = (lines: readonly string[]): void => {
    if (!json) for (const line of lines) print(line);
  };
  const out: Output = {
    json,
    document: (document) => {
      if (json) print(escapeControl(JSON.stringify(document)));
    },
    line: (text = '') => styled([printable(text)]),
    styled,
    table: (rows, columns) =>
      styled(
        renderTable(
          columns.map((column) => toTableColumn(rows, column)),
          terminalWidth(),
        ),
      ),
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
      styled(renderRecord(Object.entries(fields).map(([field, value]) => [field, fieldText(value)])));
    },
    note: (text) => void process.stderr.write(`${printable(text)}\n`),
    error: (text) => void process.stderr.write(`catalogue: ${text.split('\n').map(printable).join('\n')}\n`),
    end: async (pager) => {
      const lines = collected?.splice(0) ?? [];
      if (lines.length > 0) await showInPager(lines, pager);
    },
  };
  return out;
};
