/** Lists as pages show them: filters, a table whose heads sort, and the way to the next rows. */
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { COUNT_MAX, type Listed, type ListPage } from '#db/queries/list-page.ts';
import { UsageError } from '#src/errors.ts';
import { nextCursor, toListPage } from '#src/lists/cursor.ts';
import { type Control, controlOf } from '#src/lists/filters.ts';
import { type AnyList, type Column, emptySentence, type Link, type List } from '#src/lists/list.ts';
import {
  ago,
  badge,
  type Column as Cell,
  clock,
  FILTERS,
  formatAge,
  html,
  link,
  mono,
  number,
  pager,
  type SafeHtml,
  select,
  table,
} from '#src/site/html.ts';

/** The address of a subject on a site; null: the site has no page of it. */
export type LinkTo = (link: Link) => string | null;

const WIDTHS = { medium: 640, wide: 900, wider: 1200, widest: 1400 } as const;

const NONE = html`<span class="none">–</span>`;

const showValue = <Row>({ kind, value }: Column<Row>, row: Row): SafeHtml | string => {
  const shown = value(row);
  if (shown === null || shown === '') return NONE;
  if (shown instanceof Date) return kind === 'age' ? ago(shown) : clock(shown);
  if (typeof shown === 'number') {
    if (kind === 'duration') return formatAge(shown);
    return shown === 0 ? html`<span class="none">0</span>` : number(shown);
  }
  if (kind === 'status') return badge(shown);
  return kind === 'id' ? mono(shown) : html`<span dir="auto">${shown}</span>`;
};

/** A value, its link, and the small text below it. */
const showCell = <Row>(column: Column<Row>, row: Row, linkTo: LinkTo): SafeHtml | string => {
  const { label, note, link: toLink } = column;
  const value = showValue(column, row);
  const main = label === undefined ? value : html`<span dir="auto">${label(row)}</span>`;
  const subject = toLink?.(row) ?? null;
  const url = subject === null ? null : linkTo(subject);
  const linked = url === null ? main : html`<a href="${url}">${main}</a>`;
  const small = label === undefined ? note?.(row) : value;
  return small === undefined || small === null ? linked : html`${linked}<br><small>${small}</small>`;
};

/** The sort of a column's head: its address, and how the rows are sorted by it now. */
type Heads = (sort: string) => { url: string; direction: 'ascending' | 'descending' | 'none' };

const toCell = <Row>(column: Column<Row>, linkTo: LinkTo, heads?: Heads): Cell<Row> => {
  const { title, kind, width, sort } = column;
  return {
    head: title,
    numeric: kind === 'number' || kind === 'duration',
    cell: (row) => showCell(column, row, linkTo),
    ...(kind === 'text' && { fit: 'words' as const }),
    ...(width !== undefined && { minWidth: WIDTHS[width] }),
    ...(sort !== undefined && heads !== undefined && { sort: heads(sort) }),
  };
};

export type ListTable<Row> = {
  linkTo: LinkTo;
  /** Keys of columns that the page leaves out, because all rows have the same value. */
  omit?: readonly string[];
  /** Columns of this page alone, such as buttons. */
  more?: readonly Cell<Row>[];
  /** The name of the table for readers of a screen. */
  label: string;
  stacked?: boolean;
  empty?: SafeHtml | string;
};

/** A table of rows that the page has read. */
export const listTable = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
  rows: readonly Row[],
  { linkTo, omit = [], more = [], heads, ...options }: ListTable<Row> & { heads?: Heads },
): SafeHtml => {
  const shown = list.columns.filter(({ key, on }) => on !== 'terminal' && !omit.includes(key));
  const cells = shown.map((column) => toCell(column, linkTo, heads));
  return table(rows, [...cells, ...more], { empty: list.empty, ...options });
};

const paging = z.object({
  sort: z.string().max(50).optional().catch(undefined),
  cursor: z.string().max(4_096).optional().catch(undefined),
});

/** The name of a filter in the address of a page. */
const parameterOf = ({ name }: Control): string => (name === 'search' ? 'q' : name);

/** What the address of a page asks of a list. A filter that is empty or wrong counts as absent. */
const readQuery = <Filter extends z.ZodObject>(filter: Filter, query: unknown) => {
  const given = z.record(z.string(), z.unknown()).catch({}).parse(query);
  const typed: Record<string, string> = {};
  const parsed: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(filter.shape)) {
    const control = controlOf(filter, key);
    const text = given[parameterOf(control)];
    if (typeof text !== 'string' || text === '') continue;
    const value = (schema as z.ZodType).safeParse(control.kind === 'flag' ? true : text);
    if (!value.success || value.data === undefined) continue;
    parsed[key] = value.data;
    typed[parameterOf(control)] = text;
  }
  return { filter: parsed as z.infer<Filter>, typed, ...paging.parse(given) };
};

const filterField = (control: Control, value: string): SafeHtml => {
  const { kind, title, values = [] } = control;
  const name = parameterOf(control);
  if (kind === 'choice')
    return select(
      name,
      title,
      [['', `every ${title.toLowerCase()}`], ...values.map((each) => [each, each] as const)],
      value,
    );
  if (kind === 'flag')
    return html`<label><input type="checkbox" name="${name}" value="1"${value === '' ? null : html` checked`}> ${title}</label>`;
  const type = kind === 'text' || kind === 'application' ? 'search' : 'text';
  return html`<label class="field grow"><span>${title}</span><input type="${type}" name="${name}" value="${value}"></label>`;
};

/** The form above a list. Fields that the page fixes are left out. */
const filterForm = (filter: z.ZodObject, typed: Record<string, string>, fixed: object): SafeHtml | null => {
  const controls = Object.keys(filter.shape)
    .filter((key) => !(key in fixed))
    .map((key) => controlOf(filter, key));
  if (controls.length === 0) return null;
  const fields = controls.map((control) => filterField(control, typed[parameterOf(control)] ?? ''));
  return html`<form method="get" ${FILTERS} role="search">
${fields}
<button class="button">Filter</button></form>`;
};

/** The order of a page, as the address has it: undefined if it is the list's own. */
const sortOf = (list: AnyList, { sort, descending }: ListPage): string | undefined => {
  const text = `${descending ? '-' : ''}${sort}`;
  return text === list.order ? undefined : text;
};

export type ListView<Row, Filter> = Omit<ListTable<Row>, 'empty'> & {
  path: string;
  query: unknown;
  rows: number;
  /** What every row of this page has, such as the application of a developer. */
  fixed?: Partial<Filter>;
};

/** One page of a list: its rows, and as HTML the filters, the table and the pager. */
export type ShownList<Row, Filter> = {
  rows: Row[];
  filter: Filter;
  filters: SafeHtml | null;
  body: SafeHtml;
};

/** A page that an address no longer names, such as one of another order, is the first one. */
const toPage = (
  list: AnyList,
  request: { sort: string | undefined; cursor: string | undefined; limit: number },
) => {
  try {
    return toListPage(list, request);
  } catch (error) {
    if (error instanceof UsageError) return toListPage(list, { limit: request.limit });
    throw error;
  }
};

const countSentence = (
  list: AnyList,
  { rows, total }: Pick<Listed<object>, 'rows' | 'total'>,
): SafeHtml | null => {
  if (rows.length === 0) return null;
  const all = total > COUNT_MAX ? `more than ${number(COUNT_MAX)}` : number(total);
  return html`<p class="soft">${all} ${total === 1 ? list.plural.replace(/s$/, '') : list.plural}</p>`;
};

/** Reads and renders the page of a list that the address asks for. */
export const showList = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  sql: Database,
  list: List<Row, Filter, Sort>,
  { path, query, rows: limit, fixed = {}, ...options }: ListView<Row, z.infer<Filter>>,
): Promise<ShownList<Row, z.infer<Filter>>> => {
  const any = list as unknown as AnyList;
  const { filter: chosen, typed, sort, cursor } = readQuery(list.filter, query);
  const filter = { ...chosen, ...fixed } as z.infer<Filter>;
  const page = toPage(any, { sort, cursor, limit });
  const listed = await list.read(sql, filter, page as ListPage<Sort>);
  const next = nextCursor(page, listed);
  const order = sortOf(any, page);
  const heads: Heads = (by) => {
    const isSorted = page.sort === by;
    const reverse = isSorted ? !page.descending : !list.order.startsWith(by);
    return {
      url: link(path, { ...typed, sort: `${reverse ? '-' : ''}${by}` }),
      direction: isSorted ? (page.descending ? 'descending' : 'ascending') : 'none',
    };
  };
  const body = html`${countSentence(any, listed)}
${listTable(list, listed.rows, { ...options, heads, empty: emptySentence(any, chosen) })}
${pager([
  ['First', cursor === undefined ? null : link(path, { ...typed, sort: order })],
  ['Next', next === undefined ? null : link(path, { ...typed, sort: order, cursor: next })],
])}`;
  return { rows: listed.rows, filter, filters: filterForm(list.filter, typed, fixed), body };
};
