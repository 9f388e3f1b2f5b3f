/** Rows of a list as a table: values, links, and heads that sort. */
import type { z } from 'zod';
import { type AnyList, type Column, columnsFor, type Link, type List } from '#src/lists/list.ts';
import {
  ago,
  badge,
  clock,
  formatDuration,
  gameName,
  html,
  mono,
  NONE,
  number,
  type SafeHtml,
  type SectionOptions,
  section,
} from '#src/site/html.ts';
import { type TableColumn, type TableOptions, table } from '#src/site/table.ts';

/** The address of a subject on a site; null: the site has no page of it. */
export type LinkTo = (link: Link) => string | null;

const WIDTHS = { medium: 640, wide: 900, wider: 1200, widest: 1400 } as const;

type Shown = SafeHtml | string;

const showValue = <Row>({ kind, value }: Column<Row>, row: Row): Shown | null => {
  const shown = value(row);
  if (shown === null || shown === '') return null;
  if (shown instanceof Date) return kind === 'age' ? ago(shown) : clock(shown);
  if (typeof shown === 'number') {
    if (kind === 'duration') return formatDuration(shown);
    return shown === 0 ? html`<span class="none">0</span>` : number(shown);
  }
  if (kind === 'status') return badge(shown);
  return kind === 'id' || kind === 'word' ? mono(shown) : html`<span dir="auto">${gameName(shown)}</span>`;
};

const showNote = (note: string | Date | null | undefined): Shown | null => {
  if (note instanceof Date) return ago(note);
  return note === undefined || note === null ? null : html`<span dir="auto">${note}</span>`;
};

const showLabel = (label: string): SafeHtml =>
  html`<span dir="auto" title="${label}">${gameName(label)}</span>`;

/** A value, its link, and the small text below it. */
const showCell = <Row>(column: Column<Row>, row: Row, linkTo: LinkTo): Shown => {
  const value = showValue(column, row);
  const label = column.label?.(row);
  const main = label === undefined ? value : showLabel(label);
  const small = label === undefined ? showNote(column.note?.(row)) : value;
  const subject = column.link?.(row) ?? null;
  const url = subject === null ? null : linkTo(subject);
  const linked = url === null ? main : html`<a href="${url}">${main ?? gameName('')}</a>`;
  if (small === null) return linked ?? NONE;
  return linked === null ? html`<small>${small}</small>` : html`${linked} <br><small>${small}</small>`;
};

/** The sort of a column's head: its address, and how the rows are sorted by it now. */
export type Heads = (sort: string, kind: AnyList['columns'][number]['kind']) => TableColumn<never>['sort'];

const toTableColumn = <Row>(column: Column<Row>, linkTo: LinkTo, heads?: Heads): TableColumn<Row> => {
  const { title, kind, width, sort, label } = column;
  return {
    head: title,
    numeric: kind === 'number' || kind === 'duration',
    cell: (row) => showCell(column, row, linkTo),
    // Applications are told apart by their ids, which their operators choose as names.
    ...((kind === 'text' || column.key === 'application_id') && { fit: 'words' as const }),
    ...(kind === 'word' && { fit: 'short' as const }),
    ...(kind === 'age' && { fit: 'age' as const }),
    ...(label !== undefined && { fit: 'names' as const }),
    ...(width === 'narrow' ? { isNarrow: true } : width !== undefined && { minWidth: WIDTHS[width] }),
    ...(sort !== undefined && heads !== undefined && { sort: heads(sort, kind) }),
  };
};

export type ListTable<Row> = Partial<TableOptions<Row>> & {
  linkTo: LinkTo;
  /** Keys of the columns that the page shows, in their order. Absent: those of every page. */
  only?: readonly string[];
  /** Keys of columns that the page leaves out, because all rows have the same value. */
  omit?: readonly string[];
  /** From which widths of the window columns are shown, by key, where the list has others. Undefined: always. */
  widths?: Record<string, Column<Row>['width']>;
  /** What the page shows in place of the values of columns, by key: an icon, a link of its own. */
  cells?: Record<string, TableColumn<Row>['cell']>;
  /** Columns of this page alone, such as buttons. */
  more?: readonly TableColumn<Row>[];
};

/** A table of rows that the page has read. */
export const listTable = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
  rows: readonly Row[],
  {
    linkTo,
    only,
    omit = [],
    widths = {},
    cells = {},
    more = [],
    heads,
    ...given
  }: ListTable<Row> & { heads?: Heads },
): SafeHtml => {
  const columns = columnsFor<Row>(list.columns, 'page', only)
    .filter(({ key }) => !omit.includes(key))
    .map((column) => {
      const { width, ...always } = column;
      const from = column.key in widths ? widths[column.key] : width;
      const shown = toTableColumn({ ...always, ...(from && { width: from }) }, linkTo, heads);
      const cell = cells[column.key];
      return cell === undefined ? shown : { ...shown, cell };
    });
  const options = { empty: list.empty, label: titleOf(list), ...given };
  return table(rows, [...columns, ...more], options);
};

const titleOf = ({ nouns: [, many] }: Pick<AnyList, 'nouns'>): string =>
  `${many[0]?.toUpperCase()}${many.slice(1)}`;

/** A titled part with rows of a list. Null without rows. */
export const listSection = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  title: string,
  list: List<Row, Filter, Sort>,
  rows: readonly Row[],
  { id, aside, ...options }: ListTable<Row> & SectionOptions,
): SafeHtml | null =>
  rows.length === 0
    ? null
    : section(title, listTable(list, rows, { label: title, stacked: true, ...options }), { id, aside });
