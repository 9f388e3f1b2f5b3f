/** The first row of a statement; undefined if it returns none. */
export const firstRow = async <Row>(statement: PromiseLike<readonly Row[]>): Promise<Row | undefined> =>
  (await statement)[0];

/** The row of a statement that always returns one, such as an aggregate without a group. */
export const onlyRow = async <Row>(statement: PromiseLike<readonly Row[]>): Promise<Row> => {
  const row = await firstRow(statement);
  if (row === undefined) throw new Error('a statement that always returns a row returned none');
  return row;
};

/** The values of a statement that returns one column. */
export const readColumn = async <Row extends object>(
  statement: PromiseLike<readonly Row[]>,
): Promise<Row[keyof Row][]> => (await statement).flatMap((row) => Object.values(row));

/** The value of a statement that returns one column of one row; undefined without a row. */
export const readValue = async <Row extends object>(
  statement: PromiseLike<readonly Row[]>,
): Promise<Row[keyof Row] | undefined> => (await readColumn(statement))[0];

/** The value of a statement that always returns one column of one row, such as a count. */
export const onlyValue = async <Row extends object>(
  statement: PromiseLike<readonly Row[]>,
): Promise<Row[keyof Row]> => Object.values(await onlyRow(statement))[0];

/** Counts the rows that a statement found or wrote. */
export const countRows = async (statement: PromiseLike<{ count: number }>): Promise<number> =>
  (await statement).count;

/** Did a statement find or write one row? */
export const isOneRow = async (statement: PromiseLike<{ count: number }>): Promise<boolean> =>
  (await countRows(statement)) === 1;
