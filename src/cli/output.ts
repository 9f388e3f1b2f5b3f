import Table from 'cli-table3';

export type Column<Row> = { header: string; value: (row: Row) => string | number; right?: boolean };

/** Where a command's answer goes: tables for people, or one JSON document; notes and errors on stderr. */
export type Output = {
  json: boolean;
  /** The answer as JSON; printed only with `--json`. */
  document: (value: unknown) => void;
  /** The answer as text; printed only without `--json`. */
  line: (text?: string) => void;
  table: <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) => void;
  /** Something to know beside the answer. */
  note: (text: string) => void;
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

// Control characters in a name that an application chose must not reach the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Text that an application chose, fit for a terminal. */
export const printable = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(CONTROL, '\ufffd');

const renderTable = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string => {
  const table = new Table({
    head: columns.map((column) => column.header),
    colAligns: columns.map((column) => (column.right === true ? 'right' : 'left')),
    chars: PLAIN,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  for (const row of rows) table.push(columns.map((column) => printable(String(column.value(row)))));
  return table.toString();
};

export const createOutput = (json: boolean): Output => ({
  json,
  document: (value) => {
    if (json) process.stdout.write(`${JSON.stringify(value)}\n`);
  },
  line: (text = '') => {
    if (!json) process.stdout.write(`${text}\n`);
  },
  table: (rows, columns) => {
    if (!json) process.stdout.write(`${renderTable(rows, columns)}\n`);
  },
  note: (text) => {
    process.stderr.write(`${text}\n`);
  },
  error: (text) => {
    process.stderr.write(`catalogue: ${text}\n`);
  },
});
