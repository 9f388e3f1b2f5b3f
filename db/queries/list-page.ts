import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/** A list counts its rows up to this many: counting all would read every index entry of a large table. */
export const COUNT_MAX = 10_000;

/** Which rows of a sorted list to read. */
export type ListPage<Column extends string = string> = {
  sort: Column;
  descending: boolean;
  limit: number;
  /** Where the list continues: sort value and id of the last row before, as Postgres prints them. */
  after?: readonly [value: string, id: string] | undefined;
};

/** A page of a list. */
export type Listed<Row> = {
  rows: Row[];
  /** Rows of the whole list, counted up to `COUNT_MAX + 1`. */
  total: number;
  /** `ListPage.after` of the next page; undefined on the last. */
  next: readonly [value: string, id: string] | undefined;
};

type Keyed = { list_value: string; list_id: string };

/**
 * Read one page of a list, sorted by a column and then by an id, and count the rows.
 * @param list.columns what to select
 * @param list.from tables and joins, with a `where`
 * @param list.sort_by the expression of the sort column, and `id` that of the unique id; neither is ever null
 */
export const readListPage = async <Row extends object>(
  sql: Queryable,
  { limit, descending, after }: ListPage,
  list: { columns: Fragment; from: Fragment; sort_by: Fragment; id: Fragment },
): Promise<Listed<Row>> => {
  const { columns, from, sort_by, id } = list;
  const direction = descending ? sql`desc` : sql`asc`;
  // As text: a Date of JavaScript has no microseconds.
  const compare = descending ? sql`<` : sql`>`;
  const beyond =
    after === undefined ? sql`` : sql`and (${sort_by}, ${id}) ${compare} (${after[0]}, ${after[1]})`;
  const rows = await sql<(Row & Keyed)[]>`
    select ${columns}, (${sort_by})::text as list_value, (${id})::text as list_id
    from ${from} ${beyond}
    order by ${sort_by} ${direction}, ${id} ${direction} limit ${limit + 1}`;
  const total = await onlyValue(sql<{ total: number }[]>`
    select count(*)::int as total from (select from ${from} limit ${COUNT_MAX + 1}) as counted`);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    rows: rows.slice(0, limit).map(({ list_value: _value, list_id: _id, ...row }) => row as unknown as Row),
    total,
    next: last && [last.list_value, last.list_id],
  };
};
