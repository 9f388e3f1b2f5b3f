import type { z } from 'zod';
import type { ListPage } from '#db/queries/list-page.ts';
import { UsageError } from '#src/errors.ts';
import type { List } from '#src/lists/list.ts';

/** The page of a list that is requested: the first, or the next after a cursor, in the same order. */
export type PageRequest = Pick<ListPage, 'limit' | 'uncounted'> & {
  /** A column, with "-" before it in descending order. */
  sort?: string | undefined;
  cursor?: string | undefined;
};

const parseSort = (text: string): Pick<ListPage, 'sort' | 'descending'> => ({
  sort: text.replace(/^-/, ''),
  descending: text.startsWith('-'),
});

/** The order of a page as it is typed: a column, with "-" before it in descending order. */
export const formatSort = ({ sort, descending }: Pick<ListPage, 'sort' | 'descending'>): string =>
  `${descending ? '-' : ''}${sort}`;

export const invalidCursor = (): UsageError => new UsageError('Give a cursor as the list gave it.');

const parseCursor = (text: string): { order: string; after: readonly [value: string, id: string] } => {
  try {
    const [order = '', id, value = id] = text.split(',').map(decodeURIComponent);
    if (id !== undefined && value !== undefined) return { order, after: [value, id] };
  } catch {
    // A "%" that no list has written.
  }
  throw invalidCursor();
};

/** Checks the order and the cursor of a request. @throws UsageError that says what is wrong */
export const toListPage = <Sort extends string>(
  { sorts, order }: Pick<List<object, z.ZodObject, Sort>, 'sorts' | 'order'>,
  { sort: given = order, cursor, limit, uncounted }: PageRequest,
): ListPage<Sort> => {
  const { sort, descending } = parseSort(given);
  if (given !== order && !(sorts as readonly string[]).includes(sort))
    throw new UsageError(
      sorts.length === 0
        ? 'The order of this list is fixed.'
        : `Sort by ${sorts.join(', ')} ("-" before it: descending).`,
    );
  const page = { sort: sort as Sort, descending, limit, uncounted };
  if (cursor === undefined) return page;
  const continued = parseCursor(cursor);
  if (continued.order !== formatSort(page))
    throw new UsageError('The cursor belongs to a list in another order: repeat its other options.');
  return { ...page, after: continued.after };
};

/**
 * Returns the cursor of the next page: its order, and the id and the sort value of the last row. These two are encoded,
 * because applications may have chosen them.
 */
export const nextCursor = (
  order: Pick<ListPage, 'sort' | 'descending'>,
  after: ListPage['after'],
): string | undefined => {
  if (after === undefined) return undefined;
  const [value, id] = after;
  return [formatSort(order), id, ...(value === id ? [] : [value])]
    .map((part) => part.replaceAll(/[%,]|[^\p{L}\p{N}\p{P}\p{S} ]/gu, encodeURIComponent))
    .join(',');
};
