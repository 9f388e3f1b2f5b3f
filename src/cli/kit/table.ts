import { styleText } from 'node:util';
import stringWidth from 'string-width';

/** A column of a table, with its cells as lines of text without control characters. */
export type TableColumn = {
  header: string;
  cells: string[];
  /** `number`: right-aligned. `fixed` (times): never cut, as ids of the platform. */
  kind: 'text' | 'number' | 'fixed';
};

const GAP = '  ';
/** A column is not cut below this width. A narrower terminal shows records with whole texts instead. */
const CUT_MIN = 16;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Characters of a cut id: its milliseconds and 26 random bits, which no two rows of a list share. Commands accept cut ids. */
const SHORT_ID = 23;

/** The words of states, by colour. */
const COLOURS = {
  green: ['active', 'succeeded', 'passed', 'sealed', 'valid'],
  yellow: ['partial', 'suspect', 'paused', 'pending', 'open', 'expired', 'not_provided'],
  red: ['failed', 'FAILED', 'abandoned', 'rejected', 'revoked', 'cp_id_changed'],
} as const;
const COLOUR_OF = new Map<string, 'green' | 'yellow' | 'red'>(
  (['green', 'yellow', 'red'] as const).flatMap((colour) => COLOURS[colour].map((word) => [word, colour])),
);
/** The headers of columns whose values are states. No other column is coloured, because it may contain text of applications. */
const STATES: ReadonlySet<string> = new Set([
  'status',
  'outcome',
  'last run',
  'state',
  'audit_status',
  'decision',
]);

/**
 * Colours text if stdout is a terminal. `NO_COLOR` and `FORCE_COLOR` decide otherwise.
 * @param format a colour or a style of `node:util`
 */
export const style = (format: Parameters<typeof styleText>[0], text: string): string =>
  text === '' ? '' : styleText(format, text, { stream: process.stdout });

/** Colours the word of a state; other text stays as it is. */
const colourState = (header: string, text: string): string => {
  const colour = STATES.has(header) ? COLOUR_OF.get(text.trim()) : undefined;
  return colour === undefined ? text : style(colour, text);
};

const graphemes = new Intl.Segmenter();

/** Cuts text to this many columns of a terminal, with "…" as the last. */
export const cutTo = (text: string, width: number): string => {
  if (stringWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
};

/** Marks each further line of a text, because the text could imitate the lines of other fields. */
const GOES_ON = '| ';

/** Makes lines of at most this many columns of a text, in which `style` has marked parts. */
const wrapTo = (text: string, width: number): string[] => {
  if (stringWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequence of a colour is no text
  for (const piece of text.split(/(\u001b\[[\d;]*m)/)) {
    const segments = piece.startsWith('\u001b')
      ? [piece]
      : Array.from(graphemes.segment(piece), (each) => each.segment);
    for (const segment of segments) {
      const columns = stringWidth(segment);
      if (used + columns > width) {
        lines.push(line);
        line = '';
        used = 0;
      }
      line += segment;
      used += columns;
    }
  }
  return [...lines, line];
};

/** Is this an address? It stays whole, so that it can be opened, and has no character that a terminal draws as a space. */
export const isAddress = (text: string): boolean => /^[!-~]*$/.test(text);

/** Makes lines of at most this many columns of a text. Each further one has a mark. */
export const markLines = (text: string, width: number): string[] =>
  text
    .split('\n')
    .flatMap((line) => wrapTo(line, width - GOES_ON.length))
    .map((line, place) => (place === 0 ? line : `${GOES_ON}${line}`));

const widthOf = ({ header, cells }: TableColumn): number =>
  cells.reduce((widest, cell) => Math.max(widest, stringWidth(cell)), stringWidth(header));

const sum = (widths: readonly number[]): number =>
  widths.reduce((total, width) => total + width, GAP.length * Math.max(0, widths.length - 1));

const isUuidColumn = ({ cells }: TableColumn): boolean =>
  cells.length > 0 && cells.every((id) => UUID.test(id));

/** A game with its revision, as commands take it. It stays whole, because people paste it. */
const NAMED_REVISION = /^[0-9a-f-]{36}@\d+$/;

const shortenIds = (column: TableColumn): TableColumn => {
  if (column.cells.some((cell) => NAMED_REVISION.test(cell))) return { ...column, kind: 'fixed' };
  return isUuidColumn(column)
    ? { ...column, kind: 'fixed', cells: column.cells.map((id) => id.slice(0, SHORT_ID)) }
    : column;
};

const saysNothing = ({ kind, cells }: TableColumn): boolean =>
  cells.every((cell) => cell === '' || (kind === 'number' && cell === '0'));

/**
 * Fits columns into a width: ids are shortened, then columns without a value other than 0 are left out, then the
 * widest texts are cut.
 * @returns undefined when they do not fit
 */
const fitColumns = (given: readonly TableColumn[], width: number): TableColumn[] | undefined => {
  let columns = [...given];
  const excess = (): number => sum(columns.map(widthOf)) - width;
  if (excess() <= 0) return columns;
  columns = columns.map(shortenIds);
  if (excess() > 0) columns = columns.filter((column) => !saysNothing(column));
  const widths = columns.map(widthOf);
  for (let over = sum(widths) - width; over > 0; over -= 1) {
    const widest = columns.reduce(
      (best, { kind }, n) => (kind === 'text' && (widths[n] ?? 0) > (widths[best] ?? CUT_MIN) ? n : best),
      -1,
    );
    if (widest === -1) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return columns.map((column, n) => {
    const cut = (text: string): string => cutTo(text, widths[n] ?? 0);
    return { ...column, header: cut(column.header), cells: column.cells.map(cut) };
  });
};

const padTo = (text: string, width: number, kind: TableColumn['kind']): string => {
  const padding = ' '.repeat(width - stringWidth(text));
  return kind === 'number' ? padding + text : text + padding;
};

/**
 * Renders a table without borders.
 * @param width columns of the terminal. A table that cannot be cut to it becomes one record a row, without empty fields.
 * @returns lines without trailing spaces
 */
export const renderTable = (columns: readonly TableColumn[], width: number): string[] => {
  const fitted = fitColumns(columns, width);
  const rows = (columns[0]?.cells ?? []).keys();
  if (fitted === undefined)
    return [...rows].flatMap((row) => [
      ...(row === 0 ? [] : ['']),
      ...renderRecord(
        columns.flatMap(({ header, cells }) => {
          const cell = cells[row] ?? '';
          return cell === '' ? [] : [[header, cell] as const];
        }),
        width,
      ),
    ]);
  const widths = fitted.map(widthOf);
  const join = (cells: readonly string[]): string => cells.join(GAP).trimEnd();
  const head = fitted.map(({ header, kind }, n) => padTo(header, widths[n] ?? 0, kind));
  return [
    style('bold', join(head)),
    ...rows.map((row) =>
      join(
        fitted.map(({ header, cells, kind }, n) =>
          colourState(header, padTo(cells[row] ?? '', widths[n] ?? 0, kind)),
        ),
      ),
    ),
  ];
};

/**
 * Renders `field: value` lines. A field with several values has each on a line of its own.
 * @param width columns of the terminal, which would wrap a longer value, so that its rest looked like a line of ours
 */
export const renderRecord = (
  fields: readonly (readonly [field: string, value: string | string[]])[],
  width: number,
): string[] => {
  const mark = (before: string, value: string): string[] => {
    const line = `${before}${value}`.trimEnd();
    return isAddress(value) ? [line] : markLines(line, width);
  };
  return fields.flatMap(([field, value]) => {
    const label = style('bold', `${field}:`);
    if (typeof value === 'string') return mark(`${label} `, colourState(field, value));
    return value.length < 2
      ? mark(`${label} `, value[0] ?? '')
      : [label, ...value.flatMap((each) => mark('  ', each))];
  });
};
