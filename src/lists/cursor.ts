import type { Listed, ListPage } from '#db/queries/list-page.ts';
import { UsageError } from '#src/errors.ts';
import type { AnyList } from '#src/lists/list.ts';

type Order = Pick<ListPage, 'sort' | 'descending'>;

/** @param text a column, with "-" before it in descending order */
const toOrder = (text: string): Order => ({ sort: text.replace(/^-/, ''), descending: text.startsWith('-') });

const toText = ({ sort, descending }: Order): string => `${descending ? '-' : ''}${sort}`;

/** Where a page of a list begins: a page after another continues it in the same order. */
export type PageRequest = { sort?: string | undefined; cursor?: string | undefined; limit: number };

const parseCursor = (text: string): { order: string; after: readonly [string, string] } => {
  try {
    const [order = '', id, value = id] = text.split(',').map(decodeURIComponent);
    if (id !== undefined && value !== undefined) return { order, after: [value, id] };
  } catch {
    // A "%" that no list prints.
  }
  throw new UsageError('Give a cursor as the list gave it.');
};

/** Checks the order and the cursor of a request. @throws UsageError that says what is wrong */
export const toListPage = (
  { sorts, order }: AnyList,
  { sort = order, cursor, limit }: PageRequest,
): ListPage => {
  const chosen = toOrder(sort);
  if (toText(chosen) !== order && !sorts.includes(chosen.sort))
    throw new UsageError(`Sort by ${sorts.join(', ')} ("-" before it: descending).`);
  if (cursor === undefined) return { ...chosen, limit };
  const { order: continued, after } = parseCursor(cursor);
  if (continued !== toText(chosen))
    throw new UsageError('The cursor belongs to a list in another order: repeat its other options.');
  return { ...chosen, limit, after };
};

/** The cursor of the next page: its order, the id and the sort value of the last row, which applications may have chosen. */
export const nextCursor = (page: ListPage, { next }: Pick<Listed<object>, 'next'>): string | undefined => {
  if (next === undefined) return undefined;
  const [value, id] = next;
  return [toText(page), id, ...(value === id ? [] : [value])]
    .map((part) => part.replaceAll(/[%,]|[^\p{L}\p{N}\p{P}\p{S} ]/gu, encodeURIComponent))
    .join(',');
};
