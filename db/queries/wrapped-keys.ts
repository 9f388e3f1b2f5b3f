import type { Queryable } from '#db/client.ts';
import type { WrappedKey } from '#db/schema/applications.ts';

/** Every table with wrapped data keys: its id and the column of the wraps. The ring's wrap comes first. */
const WRAPPED = {
  kyc_keys: { id: 'purpose', type: 'text', keys: 'data_keys' },
  applications: { id: 'application_id', type: 'text', keys: 'access_token_keys' },
  kyc_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
  kyc_former_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
} as const;
export type WrappedTable = keyof typeof WRAPPED;
export const WRAPPED_TABLES = Object.keys(WRAPPED) as WrappedTable[];

/** The wrapped data key of one row. `application_id` is "" in `kyc_keys`. */
export type WrappedRow = { id: string; application_id: string; keys: WrappedKey[] };

const wrappedByAnother = (sql: Queryable, keys: string, key_id: string) =>
  sql`${sql(keys)} <> '[]'::jsonb and ${sql(keys)} -> 0 ->> 'key_id' <> ${key_id}`;

/** Number of rows whose data key is not wrapped by this key. */
export const countWrappedByOthers = async (
  sql: Queryable,
  table: WrappedTable,
  key_id: string,
): Promise<number> => {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from ${sql(table)} where ${wrappedByAnother(sql, WRAPPED[table].keys, key_id)}`;
  return rows[0]?.count ?? 0;
};

/** The next rows by id whose data key is not wrapped by this key. @param after the last id; null: from the first */
export const listWrappedByOthers = (
  sql: Queryable,
  table: WrappedTable,
  key_id: string,
  after: string | null,
  limit: number,
): Promise<WrappedRow[]> => {
  const { id, keys } = WRAPPED[table];
  return sql<WrappedRow[]>`
    select ${sql(id)}::text as id, ${table === 'kyc_keys' ? sql`''` : sql`application_id`} as application_id,
           ${sql(keys)} as keys
    from ${sql(table)}
    where ${wrappedByAnother(sql, keys, key_id)} ${after === null ? sql`` : sql`and ${sql(id)} > ${after}`}
    order by ${sql(id)} limit ${limit}`;
};

/** Replace the wraps of rows, except where they changed since they were read. @returns the number replaced */
export const replaceWraps = async (
  sql: Queryable,
  table: WrappedTable,
  rows: readonly { id: string; before: WrappedKey[]; after: WrappedKey[] }[],
): Promise<number> => {
  const { id, type, keys } = WRAPPED[table];
  const result = await sql`
    update ${sql(table)} t set ${sql(keys)} = n.after::jsonb
    from unnest(
      ${rows.map((row) => row.id)}::text[], ${rows.map((row) => JSON.stringify(row.before))}::text[],
      ${rows.map((row) => JSON.stringify(row.after))}::text[]
    ) as n(id, before, after)
    where t.${sql(id)} = n.id::${sql(type)} and t.${sql(keys)} = n.before::jsonb`;
  return result.count;
};
