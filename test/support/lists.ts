import type { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { PageRequest } from '#src/lists/cursor.ts';
import type { List } from '#src/lists/list.ts';
import { type ReadPage, readList, type Sources } from '#src/lists/read.ts';

/** What lists of rows of the database are read from. */
export const sourcesWith = (sql: Database): Sources => ({
  sql,
  producer: () => Promise.reject(new Error('this test has no queues')),
});

/** Reads one page of a list of rows of the database. */
export const readPage = <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  sql: Database,
  list: List<Row, Filter, Sort>,
  filter: z.infer<Filter>,
  request: PageRequest,
): Promise<ReadPage<Row>> => readList(list, sourcesWith(sql), filter, request);

/** Reads a whole list, page by page. */
export const readPages = async <Row extends object, Filter extends z.ZodObject, Sort extends string>(
  sources: Sources,
  list: List<Row, Filter, Sort>,
  filter: z.infer<Filter>,
  request: PageRequest,
): Promise<Row[]> => {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await readList(list, sources, filter, { ...request, cursor });
    rows.push(...page.rows);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return rows;
};
