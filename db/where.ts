import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';

/**
 * A condition, or nothing: `status && sql\`status = ${status}\``. A text is compared with undefined, because a filter by
 * "" must find nothing. A condition with `or` is in parentheses.
 */
type Condition = Fragment | undefined | null | false;

/** `where` with the given conditions, joined by `and`. Without one it is `where true`, so that a caller can add to it. */
export const where = (sql: Queryable, conditions: readonly Condition[]): Fragment => {
  const given = conditions.filter((condition) => typeof condition === 'object' && condition !== null);
  if (given.length === 0) return sql`where true`;
  return sql`where ${given.reduce((all, condition) => sql`${all} and ${condition}`)}`;
};

/** Does one of these columns contain the text, in any case? "%" and "_" are no wildcards. */
export const contains = (sql: Queryable, text: string, columns: readonly (string | Fragment)[]): Fragment => {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const matches = columns.map(
    (column) => sql`${typeof column === 'string' ? sql(column) : column} ilike ${pattern}`,
  );
  return sql`(${matches.reduce((all, match) => sql`${all} or ${match}`)})`;
};
