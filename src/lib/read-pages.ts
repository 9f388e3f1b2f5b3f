/**
 * Reads rows page by page, until a page has fewer than `limit`.
 * @param read reads the rows after the last one of the page before; undefined: the first page
 */
export async function* readPages<Row>(
  limit: number,
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  for (let last: Row | undefined, size = limit; size === limit; ) {
    const rows = await read(last);
    yield rows;
    last = rows.at(-1);
    size = rows.length;
  }
}
