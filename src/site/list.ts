/** Lists as pages show them: filters, a table whose heads sort, and the way to the next rows. */
import type { z } from 'zod';
import { COUNT_MAX } from '#db/queries/list-page.ts';
import { UsageError } from '#src/errors.ts';
import { formatSort, type PageRequest } from '#src/lists/cursor.ts';
import { type AnyList, type Column, columnsFor, type Link, type List } from '#src/lists/list.ts';
import { emptySentence, type ReadPage, readList, type Sources } from '#src/lists/read.ts';
import { filterForm, readQuery } from '#src/site/filters.ts';
import {
  ago,
  badge,
  clock,
  formatDuration,
  gameName,
  html,
  link,
  mono,
  NONE,
  number,
  type SafeHtml,
  section,
} from '#src/site/html.ts';
import { pager, type TableColumn, type TableOptions, table } from '#src/site/table.ts';

/** The address of a subject on a site; null: the site has no page of it. */
export type LinkTo = (link: Link) => string | null;

/** Kinds whose first click sorts from A to Z. */
const WORDS: readonly Column<never>['kind'][] = ['text', 'id', 'word'];

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
  return linked === null ? html`<small>${small}</small>` : html`${linked}<br><small>${small}</small>`;
};

/** The sort of a column's head: its address, and how the rows are sorted by it now. */
type Heads = (sort: string, kind: AnyList['columns'][number]['kind']) => TableColumn<never>['sort'];

const toTableColumn = <Row>(column: Column<Row>, linkTo: LinkTo, heads?: Heads): TableColumn<Row> => {
  const { title, kind, width, sort, label } = column;
  return {
    head: title,
    numeric: kind === 'number' || kind === 'duration',
    cell: (row) => showCell(column, row, linkTo),
    // Applications are told apart by their ids, which their operators choose as names.
    ...((kind === 'text' || column.key === 'application_id') && { fit: 'words' as const }),
    ...(kind === 'word' && { fit: 'short' as const }),
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
  /** What the page shows in place of the values of columns, by key: an icon, a link of its own. */
  cells?: Record<string, TableColumn<Row>['cell']>;
  /** Columns of this page alone, such as buttons. */
  more?: readonly TableColumn<Row>[];
};

/** A table of rows that the page has read. */
export const listTable = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
  rows: readonly Row[],
  { linkTo, only, omit = [], cells = {}, more = [], heads, ...given }: ListTable<Row> & { heads?: Heads },
): SafeHtml => {
  const columns = columnsFor<Row>(list.columns, 'page', only)
    .filter(({ key }) => !omit.includes(key))
    .map((column) => {
      const shown = toTableColumn(column, linkTo, heads);
      const cell = cells[column.key];
      return cell === undefined ? shown : { ...shown, cell };
    });
  const options = { empty: list.empty, label: titleOf(list), ...given };
  return table(rows, [...columns, ...more], options);
};

const titleOf = ({ nouns: [, many] }: Pick<AnyList, 'nouns'>): string =>
  `${many[0]?.toUpperCase()}${many.slice(1)}`;

/** The page of a list that an address requests. */
type ListView<Filter> = {
  path: string;
  query: unknown;
  limit: number;
  /** How the rows are sorted unless the address says it. Absent: as the list does. */
  order?: string;
  /** What every row of this page has, such as the application of a developer. It has no control. */
  fixed?: Partial<Filter>;
  /** Keys of filters that the page offers in another way, such as tabs. */
  tabs?: readonly (keyof Filter & string)[];
  /** Parameters of the page that are no filter. They stay in its links. */
  kept?: Record<string, string>;
};

type BodyOptions<Row> = Omit<ListTable<Row>, 'empty'> & {
  /** Said when there is no row at all. Absent: what the list says. */
  empty?: string;
  /** The head of the table. Absent: the heading of the page says what the rows are. */
  title?: string;
  /** What an empty list says beside its sentence. */
  hint?: SafeHtml;
};

/** One page of a list, and its parts as HTML. */
export type ShownList<Row, Filter> = {
  rows: Row[];
  /** As the reader chose it, and as the page fixes it. */
  filter: Filter;
  /** The parameters of the address that filter. */
  typed: Record<string, string>;
  /** The cursor of the next page. */
  next: string | undefined;
  filters: SafeHtml | null;
  /** How many rows there are. */
  count: SafeHtml | null;
  /** What the list says if it has no rows. */
  sentence: string;
  pager: SafeHtml | null;
  /** The table in a titled part with the count, and the pager. */
  body: (options: BodyOptions<Row>) => SafeHtml;
};

/** Reads a page. An address of another order or a former cursor shows the first page. */
const readOrFirst = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
  sources: Sources,
  filter: z.infer<Filter>,
  { order, ...request }: PageRequest & { order: string },
): Promise<ReadPage<Row>> => {
  try {
    return await readList(list, sources, filter, { ...request, sort: request.sort ?? order });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return readList(list, sources, filter, { sort: order, limit: request.limit });
  }
};

const showCount = (list: AnyList, { total }: Pick<ReadPage<object>, 'total'>): SafeHtml | null => {
  if (total === null || total === 0) return null;
  const [one, many] = list.nouns;
  const all = total > COUNT_MAX ? `more than ${number(COUNT_MAX)}` : number(total);
  return html`<span class="soft">${all} ${total === 1 ? one : many}</span>`;
};

const showCut = (compared: number): SafeHtml =>
  html`<span class="soft">One page compares ${number(compared)} names. The search goes on with the next ones.</span>`;

/** Several pages have all that a search finds. */
const showFound = (found: number, { cursor, page }: ReadPage<object>): SafeHtml | null =>
  cursor === undefined && page.after === undefined
    ? null
    : html`<span class="soft">The best ${number(found)} matches, at most. More words find fewer.</span>`;

/** Reads the page of a list that the address names. */
export const showList = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  sources: Sources,
  list: List<Row, Filter, Sort>,
  { path, query, limit, order = list.order, fixed = {}, ...rest }: ListView<z.infer<Filter>>,
): Promise<ShownList<Row, z.infer<Filter>>> => {
  const { tabs = [], kept = {} } = rest;
  const { filter: chosen, typed, sort, cursor } = readQuery(list.filter, query, fixed);
  const filter = { ...chosen, ...fixed } as z.infer<Filter>;
  const read = await readOrFirst(list, sources, filter, { order, sort, cursor, limit });
  const { rows, page, cursor: next } = read;
  const sorted = formatSort(page);
  const here = (more: Record<string, string | undefined> = {}): string =>
    link(path, { ...typed, ...kept, sort: sorted === order ? undefined : sorted, ...more });
  const heads: Heads = (by, kind) => {
    const isSorted = page.sort === by;
    // Of figures and times, people look for the largest and the latest.
    const isDescending = isSorted ? !page.descending : !WORDS.includes(kind) && order !== by;
    const direction = page.descending ? 'descending' : 'ascending';
    return {
      url: here({ sort: `${isDescending ? '-' : ''}${by}` }),
      direction: isSorted ? direction : 'none',
    };
  };
  const isCut = next !== undefined && rows.length < limit;
  const isSearch = 'search' in filter && filter.search !== undefined;
  const count =
    isSearch && list.found !== undefined
      ? showFound(list.found, read)
      : isCut && list.compared !== undefined
        ? showCut(list.compared)
        : showCount(list, read);
  // A tab is a place, not a filter that matched nothing.
  const searched = Object.entries(chosen).filter(([key]) => !tabs.some((tab) => tab === key));
  const sentenceOf = (empty: string): string =>
    emptySentence({ ...list, empty }, Object.fromEntries(searched), next !== undefined);
  const sentence = sentenceOf(list.empty);
  const pages = pager([
    ['First', page.after === undefined ? undefined : here()],
    [isCut ? 'Search further' : 'Next', next && here({ cursor: next })],
  ]);
  const without = [...tabs, ...Object.keys(fixed)];
  return {
    rows,
    filter,
    typed,
    next,
    filters: filterForm(list.filter, { path, typed, without, tabs, kept }),
    count,
    sentence,
    pager: pages,
    body: ({ title, hint, empty: own = list.empty, ...options }) => {
      const said = sentenceOf(own);
      const empty = hint === undefined ? said : html`${said} ${hint}`;
      const rowsShown = listTable(list, rows, { ...options, heads, empty });
      return html`${section(title, rowsShown, { aside: count ?? undefined })}${pages}`;
    },
  };
};
