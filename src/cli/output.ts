import Table from 'cli-table3';

export type Column<Row> = { header: string; value: (row: Row) => string | number; right?: boolean };

/**
 * Where a command's answer goes: tables for people, or one JSON document; notes and errors on stderr. Whatever text
 * of others a command puts in, what comes out is fit for a terminal.
 */
export type Output = {
  json: boolean;
  /** The answer as JSON; printed only with `--json`. */
  document: (value: unknown) => void;
  /** One line of the answer as text; printed only without `--json`. */
  line: (text?: string) => void;
  table: <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) => void;
  /** One line of something to know beside the answer. */
  note: (text: string) => void;
  /** What went wrong; a list of problems, or a stack, takes several lines. */
  error: (text: string) => void;
};

const PLAIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/**
 * One line of text with nothing in it that a terminal would act on: an application chooses names and ids, and an
 * operator reads them.
 */
const printable = (text: string): string =>
  text.replaceAll(/[\t\n\v\f\r\u2028\u2029]/g, ' ').replaceAll(CONTROL, '\ufffd');

/** In a table, where the columns do the spacing. */
const cell = (value: string | number): string => printable(String(value).replaceAll(/\s+/g, ' '));

/** JSON escapes the first 32 control characters by itself; of the others it may, and means the same. */
const escapeControl = (json: string): string =>
  json.replaceAll(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const renderTable = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string => {
  const table = new Table({
    head: columns.map((column) => column.header),
    colAligns: columns.map((column) => (column.right === true ? 'right' : 'left')),
    chars: PLAIN,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  for (const row of rows) table.push(columns.map((column) => cell(column.value(row))));
  return table.toString();
};

export const createOutput = (json: boolean): Output => ({
  json,
  document: (value) => {
    if (json) process.stdout.write(`${escapeControl(JSON.stringify(value))}\n`);
  },
  line: (text = '') => {
    if (!json) process.stdout.write(`${printable(text)}\n`);
  },
  table: (rows, columns) => {
    if (!json) process.stdout.write(`${renderTable(rows, columns)}\n`);
  },
  note: (text) => {
    process.stderr.write(`${printable(text)}\n`);
  },
  error: (text) => {
    process.stderr.write(`catalogue: ${text.split('\n').map(printable).join('\n')}\n`);
  },
});
