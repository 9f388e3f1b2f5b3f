import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/** A list counts its rows up to this many, because counting all would read every index entry of a large table. */
export const COUNT_MAX = 10_000;

/** The rows of a sorted list that are requested. */
export type ListPage<Sort extends string = string> = {
  sort: Sort;
  descending: boolean;
  limit: number;
  /** The sort value and the id of the last row of the former page, as Postgres prints them. */
  after?: readonly [value: string, id: string] | undefined;
  /** The reader does not show the total. */
  uncounted?: boolean | undefined;
};

/** A page of a list. */
export type Listed<Row> = {
  rows: Row[];
  /** Rows of the whole list; `COUNT_MAX + 1` means more than `COUNT_MAX`. Null: not counted. */
  total: number | null;
  /** `ListPage.after` of the next page; undefined on the last. */
  next: readonly [value: string, id: string] | undefined;
};

/** A page ends after this much text, because a stolen login may store a thousand long rows. */
const PAGE_BYTES = 8 * 1024 ** 2;

type Keyed = { list_value: string; list_id: string; list_bytes: number; list_size: number };

/**
 * Reads one page of a list, sorted by a column and then by an id, and counts the rows.
 * @param list.columns what to select
 * @param list.from tables and joins, with a `where`, after which conditions follow
 * @param list.counted the same for the count, if it needs fewer joins
 * @param list.sort_by the expression of the sort column, and `id` that of the unique id; neither is ever null
 * @param list.lead the first column of the index that has this order, if the filter fixes its value
 */
export const readListPage = async <Row extends object>(
  sql: Queryable,
  { limit, descending, after, uncounted = false }: ListPage,
  list: {
    columns: Fragment;
    from: Fragment;
    counted?: Fragment;
    sort_by: Fragment;
    id: Fragment;
    lead?: Fragment;
  },
): Promise<Listed<Row>> => {
  const { columns, from, counted = from, sort_by, id, lead } = list;
  const direction = descending ? sql`desc` : sql`asc`;
  const compare = descending ? sql`<` : sql`>`;
  const beyond =
    after === undefined ? sql`true` : sql`(${sort_by}, ${id}) ${compare} (${after[0]}, ${after[1]})`;
  // The cursor's values are text, because a Date of JavaScript has no microseconds. The first row that does not fit is read
  // too, because it shows that the list continues.
  const read = await sql<(Row & Keyed)[]>`
    select * from (
      select page.*, octet_length(page::text) as list_size,
             (sum(octet_length(page::text)) over (rows unbounded preceding))::float8 as list_bytes
      from (
        select ${columns}, (${sort_by})::text as list_value, (${id})::text as list_id
        from ${from} and ${beyond}
        order by ${lead === undefined ? sql`` : sql`${lead} ${direction},`} ${sort_by} ${direction}, ${id} ${direction}
        limit ${limit + 1}
      ) page
    ) sized
    where list_bytes - list_size <= ${PAGE_BYTES}`;
  const fitting = read
    .slice(0, limit)
    .filter(({ list_bytes }, index) => index === 0 || list_bytes <= PAGE_BYTES);
  const last = fitting.length < read.length ? fitting.at(-1) : undefined;
  const rows = fitting.map(
    ({ list_value: _value, list_id: _id, list_bytes: _bytes, list_size: _size, ...row }) =>
      row as unknown as Row,
  );
  const isWhole = after === undefined && last === undefined;
  const count = async (): Promise<number> =>
    onlyValue(sql<{ total: number }[]>`
      select count(*)::int as total from (select from ${counted} limit ${COUNT_MAX + 1}) as counted`);
  return {
    rows,
    total: isWhole ? rows.length : uncounted ? null : await count(),
    next: last && [last.list_value, last.list_id],
  };
};
