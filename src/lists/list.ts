/**
 * What people and machines see in rows. A list says once what it filters, sorts, shows and reads; the command line, the
 * pages, the portal and the operator API render it.
 */
import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { Listed, ListPage } from '#db/queries/list-page.ts';
import type { Right } from '#src/contract/roles.ts';

/**
 * What a value is, for its alignment and its form. `age`: a time as its distance from now. `duration`: milliseconds.
 * `id`: of the platform, or a word of the protocol.
 */
type Kind = 'text' | 'number' | 'time' | 'age' | 'duration' | 'status' | 'id';

/** The subject that a cell links to; each front has its own address of it, or none. */
export type Link = { to: 'application' | 'game' | 'run' | 'event' | 'operator'; id: string };

export type Column<Row> = {
  /** Its head on the command line. */
  key: string;
  /** Its head on a page. */
  title: string;
  kind: Kind;
  value: (row: Row) => string | number | Date | null;
  /** What a page shows in place of the value, which is then the small text below it: a name above its id. */
  label?: (row: Row) => string;
  /** Small text below the value, on a page. */
  note?: (row: Row) => string | null;
  link?: (row: Row) => Link | null;
  /** The sort of a click on its head. */
  sort?: string;
  /** Pages show it from this width of the window on. Absent: always. */
  width?: 'medium' | 'wide' | 'wider' | 'widest';
  /** Its only front: a terminal has room for other columns than a page. Absent: every one. */
  on?: 'terminal' | 'page';
};

/** A column, with "-" before it in descending order. */
export type SortText<Sort extends string> = Sort | `-${Sort}`;

export type List<Row extends object, Filter extends z.ZodObject, Sort extends string> = {
  name: `${string}.${string}`;
  /** Its rows, also the key of the JSON document: `runs`. */
  plural: string;
  right: Right;
  /** Each key is made by `src/lists/filters.ts`, so that every front has a control for it. */
  filter: Filter;
  sorts: readonly Sort[];
  /** How it is sorted by default. */
  order: SortText<NoInfer<Sort>>;
  columns: readonly Column<NoInfer<Row>>[];
  /** Said when there is no row at all, and when none matches the filter. */
  empty: string;
  noMatch?: string;
  /** A row in JSON. Default: as it was read. */
  document?(row: Row): object;
  read(sql: Database, filter: z.infer<Filter>, page: ListPage<Sort>): Promise<Listed<Row>>;
};

export type AnyList = List<object, z.ZodObject, string>;

/** Defines a list. Its types come from its parts. */
export const defineList = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
): List<Row, Filter, Sort> => list;

/** What a list says without rows. @param filter as the reader chose it */
export const emptySentence = ({ empty, noMatch = empty }: AnyList, filter: object): string =>
  Object.values(filter).every((value) => value === undefined) ? empty : noMatch;
