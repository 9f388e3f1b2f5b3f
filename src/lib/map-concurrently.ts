import { Readable } from 'node:stream';

/**
 * Maps items, at most `max` at once. After a failure it starts no more.
 * @returns the results in the order of the items
 * @throws what `map` throws
 */
export const mapConcurrently = async <Item, Result>(
  items: Iterable<Item>,
  max: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  // A stream refuses null, which may be a result.
  const results: { result: Result }[] = await Readable.from(items)
    .map(async (item: Item) => ({ result: await map(item) }), { concurrency: max })
    .toArray();
  return results.map(({ result }) => result);
};
