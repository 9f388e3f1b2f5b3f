/** Reads a page of a list as a front requests it. */
import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { Listed, ListPage } from '#db/queries/list-page.ts';
import { isInvalidValue } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';
import { invalidCursor, nextCursor, type PageRequest, toListPage } from '#src/lists/cursor.ts';
import type { AnyList, List } from '#src/lists/list.ts';
import type { Producer } from '#src/queue/producer.ts';

/** The sources from which a front reads lists. */
export type Sources = {
  sql: Database;
  /** Opens the queues. */
  producer: () => Promise<Producer>;
};

export type ReadPage<Row> = Omit<Listed<Row>, 'next'> & {
  page: ListPage;
  /** The cursor of the next page; undefined on the last. */
  cursor: string | undefined;
};

/** @throws UsageError if there is no such sort, or the list did not make the cursor */
export const readList = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
  { sql, producer }: Sources,
  filter: z.infer<Filter>,
  request: PageRequest,
): Promise<ReadPage<Row>> => {
  const page = toListPage(list, request);
  try {
    const { next, ...listed } = await list.read(sql, filter, page, producer);
    return { ...listed, page, cursor: nextCursor(page, next) };
  } catch (thrown) {
    const error = coerceError(thrown);
    throw page.after !== undefined && isInvalidValue(error) ? invalidCursor() : error;
  }
};

/** Reads the first rows of a list for a part of a page, without counting them. */
export const readFirst = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  list: List<Row, Filter, Sort>,
  sources: Sources,
  filter: z.infer<Filter>,
  limit: number,
  sort?: string,
): Promise<Row[]> => (await readList(list, sources, filter, { sort, limit, uncounted: true })).rows;

/** Returns the sentence of a page without rows. @param filter as the reader set it @param hasNext whether the search goes on */
export const emptySentence = (
  { empty, noMatch = empty }: AnyList,
  filter: object,
  hasNext: boolean,
): string => {
  if (hasNext) return 'No match so far.';
  return Object.values(filter).every((value) => value === undefined) ? empty : noMatch;
};
