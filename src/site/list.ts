/** Lists as pages show them: filters, a table, and the way to the next rows. */
import type { z } from 'zod';
import { COUNT_MAX } from '#db/queries/list-page.ts';
import { UsageError } from '#src/errors.ts';
import { formatSort, type PageRequest } from '#src/lists/cursor.ts';
import type { AnyList, Column, List } from '#src/lists/list.ts';
import { emptySentence, type ReadPage, readList, type Sources } from '#src/lists/read.ts';
import { filterForm, readQuery } from '#src/site/filters.ts';
import { html, link, number, type SafeHtml, section } from '#src/site/html.ts';
import { type Heads, type ListTable, listTable } from '#src/site/list-table.ts';
import { pager } from '#src/site/table.ts';

/** Kinds whose first click sorts from A to Z. */
const WORDS: readonly Column<never>['kind'][] = ['text', 'id', 'word'];

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
  /** What the page calls choices of filters. Absent: as the list does. */
  words?: Record<string, string>;
};

type BodyOptions<Row> = Omit<ListTable<Row>, 'empty'> & {
  /** The rows that stand for all of the page. Absent: all. */
  shown?: readonly Row[];
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
  filters: SafeHtml | null;
  /** How many rows there are. */
  count: SafeHtml | null;
  /** What the list says if it has no rows. */
  sentence: string;
  /** Null if the page has all rows. */
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

/** @param first the place of the first row; undefined: not known */
const showCount = (
  list: AnyList,
  { total, rows }: ReadPage<object>,
  first: number | undefined,
): SafeHtml | null => {
  if (total === null || total === 0) return null;
  const [one, many] = list.nouns;
  const all = total > COUNT_MAX ? `more than ${number(COUNT_MAX)}` : number(total);
  const last = first === undefined ? total : first + rows.length - 1;
  // Rows may have gone since the page before.
  const isPart = first !== undefined && rows.length < total && rows.length > 0 && last <= total;
  const range = first === last ? '' : `${number(first ?? 0)}–`;
  const place = isPart ? `${range}${number(last)} of ` : '';
  return html`<span class="soft">${place}${all} ${total === 1 ? one : many}</span>`;
};

const showCut = (compared: number): SafeHtml =>
  html`<span class="soft">One page compares ${number(compared)} names. The search goes on with the next ones.</span>`;

/** Says that a search finds the best matches only. Nothing if one page has all of them. */
const showFound = (found: number, { cursor, page }: ReadPage<object>): SafeHtml | null =>
  cursor === undefined && page.after === undefined
    ? null
    : html`<span class="soft">The best ${number(found)} matches, at most. More words find fewer.</span>`;

/** Says how many rows there are and which of them these are, or why the page does not know it. */
const showReach = (
  list: AnyList,
  read: ReadPage<object>,
  { isSearch, isCut, first }: { isSearch: boolean; isCut: boolean; first: number | undefined },
): SafeHtml | null => {
  if (isSearch && list.found !== undefined) return showFound(list.found, read);
  if (isCut && list.compared !== undefined) return showCut(list.compared);
  return showCount(list, read, first);
};

/** Reads the page of a list that the address names. */
export const showList = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  sources: Sources,
  list: List<Row, Filter, Sort>,
  { path, query, limit, order = list.order, fixed = {}, ...rest }: ListView<z.infer<Filter>>,
): Promise<ShownList<Row, z.infer<Filter>>> => {
  const { tabs = [], kept = {}, words = {} } = rest;
  const { filter: chosen, typed, flaws, sort, cursor, from } = readQuery(list.filter, query, fixed);
  const filter = { ...chosen, ...fixed } as z.infer<Filter>;
  const read = await readOrFirst(list, sources, filter, { order, sort, cursor, limit });
  const { rows, page, cursor: next } = read;
  const sorted = formatSort(page);
  const stays = sorted === order ? kept : { ...kept, sort: sorted };
  const here = (more: Record<string, string | undefined> = {}): string =>
    link(path, { ...typed, ...stays, ...more });
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
  const first = page.after === undefined ? 1 : from;
  const count = showReach(list, read, { isSearch, isCut, first });
  // A tab is a place, not a filter that matched nothing.
  const searched = Object.entries(chosen).filter(([key]) => !tabs.some((tab) => tab === key));
  const sentenceOf = (empty: string): string =>
    emptySentence({ ...list, empty }, Object.fromEntries(searched), next !== undefined);
  const sentence = sentenceOf(list.empty);
  const after = first === undefined ? undefined : String(first + rows.length);
  const pages = pager([
    ['First', page.after === undefined ? undefined : here()],
    [isCut ? 'Search further' : 'Next', next && here({ from: after, cursor: next })],
  ]);
  const without = [...tabs, ...Object.keys(fixed)];
  return {
    rows,
    filter,
    typed,
    filters: filterForm(list.filter, { path, typed, flaws, without, tabs, kept: stays, words }),
    count,
    sentence,
    pager: pages,
    body: ({ title, hint, shown = rows, empty: own = list.empty, ...options }) => {
      const said = sentenceOf(own);
      const empty = hint === undefined ? said : html`<strong>${said}</strong> ${hint}`;
      const rowsShown = listTable(list, shown, { ...options, heads, empty });
      return html`${section(title, rowsShown, { aside: count ?? undefined })}${pages}`;
    },
  };
};
