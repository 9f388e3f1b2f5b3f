import { formatTime } from '#src/cli/kit/format.ts';
import type { Stdio } from '#src/cli/kit/invocation.ts';
import { showInPager } from '#src/cli/kit/pager.ts';
import { renderRecord, renderTable, type TableColumn } from '#src/cli/kit/table.ts';
import { escapeUnprintable, toPrintable } from '#src/lib/printable.ts';

type Field<Row> = keyof Row & string;
/** A header, and its values: a field of each row, or a function of the row. */
type NamedColumn<Row> = readonly [header: string, value: Field<Row> | ((row: Row) => unknown)];
/** A column of a table. The header of a field is its name without `_at`. */
export type Column<Row> = Field<Row> | NamedColumn<Row>;
type Columns<Row> = readonly Column<Row>[];

/**
 * Prints the result of a command on stdout: text, or one JSON document with `--json`. Notes and errors go to stderr.
 * Applications choose texts that are printed, so unprintable characters are replaced in text and escaped in JSON.
 */
export type Output = {
  json: boolean;
  stdio: Stdio;
  /** With `--json`, prints a JSON document; otherwise nothing. */
  document: (document: unknown) => void;
  /** Without `--json`, prints a line of text; otherwise nothing. */
  line: (text?: string) => void;
  /** Without `--json`, prints lines that may have colours. The caller makes the texts of applications printable. */
  styled: (lines: readonly string[]) => void;
  /** Without `--json`, prints a table of the rows; otherwise nothing. */
  table: <Row>(rows: readonly Row[], columns: Columns<Row>) => void;
  /** With `--json`, prints the document; otherwise the lines. */
  answer: (document: unknown, ...lines: string[]) => void;
  /** With `--json`, prints the document; otherwise a table of the rows, or the line `empty` if there are none. */
  list: <Row>(document: unknown, rows: readonly Row[], columns: Columns<Row>, empty: string) => void;
  /**
   * With `--json`, prints the document; otherwise a line `field: value` for each of `fields`, by default those of the
   * document.
   */
  record: (document: object, fields?: object) => void;
  /** Prints a line on stderr. */
  note: (text: string) => void;
  /** Prints an error. It may have several lines: a list of problems, a stack trace. */
  error: (text: string) => void;
  /** Shows the collected text of a paged command. @param pager a shell command; by default less */
  showPaged: (pager: string | undefined) => Promise<void>;
};

/** Formats a value on one line, with single spaces. */
const formatCell = (value: unknown): string =>
  toPrintable((value instanceof Date ? formatTime(value) : String(value ?? '')).replaceAll(/\s+/g, ' '));

const kindOf = (values: readonly unknown[]): TableColumn['kind'] => {
  if (values.every(Number.isFinite)) return 'number';
  return values.some((value) => value instanceof Date) ? 'fixed' : 'text';
};

const toTableColumn = <Row>(rows: readonly Row[], column: Column<Row>): TableColumn => {
  const [header, value]: NamedColumn<Row> =
    typeof column === 'object' ? column : [column.replace(/_at$/, ''), column];
  const values = rows.map(typeof value === 'function' ? value : (row: Row): unknown => row[value]);
  return { header, cells: values.map(formatCell), kind: kindOf(values) };
};

/** @returns the text of a value, or of each element of a list */
const formatField = (value: unknown): string | string[] =>
  Array.isArray(value) ? value.map(formatCell) : formatCell(value);

/** @param mode.paged on a terminal, collects the text until `showPaged` is called */
export const createOutput = (stdio: Stdio, { json, paged }: { json: boolean; paged: boolean }): Output => {
  const { stdout, stderr } = stdio;
  const collected: string[] | undefined = paged && !json && stdout.isTTY ? [] : undefined;
  /** Infinite if stdout is not a terminal, so that no line is cut. */
  const terminalWidth = (): number => stdout.columns ?? Number.POSITIVE_INFINITY;
  const print = (text: string): void => {
    if (collected === undefined) stdout.write(`${text}\n`);
    else collected.push(text);
  };
  const styled = (lines: readonly string[]): void => {
    if (!json) for (const line of lines) print(line);
  };
  const out: Output = {
    json,
    stdio,
    document: (document) => {
      if (json) print(escapeUnprintable(JSON.stringify(document)));
    },
    line: (text = '') => styled([toPrintable(text)]),
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
      const named = Object.entries(fields).map(([field, value]) => [field, formatField(value)] as const);
      styled(renderRecord(named, terminalWidth()));
    },
    note: (text) => void stderr.write(`${toPrintable(text)}\n`),
    error: (text) => void stderr.write(`catalogue: ${text.split('\n').map(toPrintable).join('\n')}\n`),
    showPaged: async (pager) => {
      if (collected !== undefined && collected.length > 0) await showInPager(collected, stdout, pager);
    },
  };
  return out;
};
