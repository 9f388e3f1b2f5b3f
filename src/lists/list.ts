/**
 * Lists: everything that people and machines see in rows. A list defines once its filter, sorts, columns and query; the
 * fronts (the command line, the pages, the portal and the operator API) render it. `index.ts` names every list.
 */
import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { Listed, ListPage } from '#db/queries/list-page.ts';
import type { Right } from '#src/contract/roles.ts';
import type { Producer } from '#src/queue/producer.ts';

/**
 * What a value is, for its alignment and its form. `age`: a time as its distance from now. `duration`: milliseconds.
 * `status`: one of a few words, which has a colour. `id`: an id, which may be long. `word`: a word of ours, on one line.
 */
type Kind = 'text' | 'number' | 'time' | 'age' | 'duration' | 'status' | 'id' | 'word';

/** The subject that a cell links to; each front has its own address of it, or none. */
export type Link =
  | { to: 'application' | 'game' | 'run'; id: string }
  /** A game as its application names it; without `game_id` it may not be stored. */
  | { to: 'application_game'; application_id: string; application_game_id: string; game_id?: string };

type Value = string | number | Date | null;

// Methods, not properties, so that a list of rows of some type is also a list of any rows.
export type Column<Row> = {
  /** Its name in code, and its head on the command line. */
  key: string;
  /** Its head on a page. */
  title: string;
  kind: Kind;
  value(row: Row): Value;
  /** What a page shows in place of the value, which is then the small text below it: a name above its id. */
  label?(row: Row): string;
  /** Small text below the value, on a page. A time is shown as its age. */
  note?(row: Row): string | Date | null;
  link?(row: Row): Link | null;
  /** The sort of a click on its head. */
  sort?: string;
  /** Pages show it from this width of the window on; `narrow`: only below 900 pixels. Absent: always. */
  width?: 'narrow' | 'medium' | 'wide' | 'wider' | 'widest';
  /** The only front that shows it by default, because a terminal has room for other columns than a page. `none`: no front does. */
  on?: 'terminal' | 'page' | 'none';
};

/** A column as a list defines it. By default its title is its key in words, its kind `text`, its value the field of that name. */
type Given<Row> = Pick<Column<Row>, 'key'> & Partial<Column<Row>>;

const inWords = (key: string): string => `${key[0]?.toUpperCase()}${key.slice(1)}`.replaceAll('_', ' ');

/** Completes a column. */
export const column = <Row>(given: Given<Row>): Column<Row> => ({
  title: inWords(given.key),
  kind: 'text',
  value: (row) => row[given.key as keyof Row] as Value,
  ...given,
});

/** A sort column, after "-" if the order is descending. */
export type SortText<Sort extends string> = Sort | `-${Sort}`;

type ListWith<AnyColumn, Row extends object, Filter extends z.ZodObject, Sort extends string> = {
  name: `${string}.${string}`;
  /** What one row is called, and several rows. */
  nouns: readonly [one: string, many: string];
  /** The key of the rows in a JSON document. Default: the noun of several rows. */
  plural?: string;
  right: Right;
  /** Each key is made by `src/lists/filters.ts`, so that every front has a control for it. */
  filter: Filter;
  /** If there are none, the order is fixed. */
  sorts: readonly Sort[];
  /** The default sort. */
  order: SortText<NoInfer<Sort>>;
  columns: readonly AnyColumn[];
  /** The sentences if there is no row at all, and if none matches the filter. */
  empty: string;
  noMatch?: string;
  /** Most names that one page compares with the search text, so a page may end before it is full. */
  compared?: number;
  /** Most rows that a search finds: the best, in an order of its own. */
  found?: number;
  /** The fields of a row that the operator API serves. */
  row: z.ZodObject;
  /** Adds the fields of `row` that `read` did not return. Absent: the command line prints the row as it was read. */
  document?(row: Row): object;
  /** @param producer opens the queues */
  read(
    sql: Database,
    filter: z.infer<Filter>,
    page: ListPage<Sort>,
    producer: () => Promise<Producer>,
  ): Promise<Listed<Row>>;
};

export type List<Row extends object, Filter extends z.ZodObject, Sort extends string> = ListWith<
  Column<Row>,
  Row,
  Filter,
  Sort
>;

export type AnyList = List<object, z.ZodObject, string>;

/** Defines a list. Its types come from its parts. */
export const defineList = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: ListWith<Given<NoInfer<Row>>, Row, Filter, Sort>,
): List<Row, Filter, Sort> => ({ ...list, columns: list.columns.map((given) => column<Row>(given)) });

/** Returns a row in JSON, as the command line prints it. */
export const toDocument = <Row extends object>(
  { row: { shape }, document }: Pick<List<Row, z.ZodObject, string>, 'row' | 'document'>,
  row: Row,
): object => {
  if (document === undefined) return row;
  const fields: Record<string, unknown> = { ...document(row) };
  return Object.fromEntries(Object.keys(shape).flatMap((key) => (key in fields ? [[key, fields[key]]] : [])));
};

/** The columns that a front shows: those with these keys, in their order, or else its own. */
export const columnsFor = <Row>(
  columns: readonly Column<Row>[],
  front: 'terminal' | 'page',
  keys?: readonly string[],
): Column<Row>[] => {
  if (keys === undefined) return columns.filter(({ on = front }) => on === front);
  return keys.map((key) => {
    const column = columns.find((each) => each.key === key);
    if (column === undefined) throw new Error(`the list has no column ${key}`);
    return column;
  });
};
