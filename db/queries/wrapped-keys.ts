import type { Queryable } from '#db/client.ts';
import { countRows, onlyValue } from '#db/rows.ts';
import type { WrappedKey } from '#db/schema/applications.ts';

/** Every table with wrapped data keys: its id and the column of the wraps. */
const WRAPPED = {
  kyc_keys: { id: 'purpose', type: 'text', keys: 'data_keys', hasNoApplication: true },
  applications: { id: 'application_id', type: 'text', keys: 'access_token_keys' },
  event_webhooks: { id: 'application_id', type: 'text', keys: 'secret_keys' },
  event_subscriptions: { id: 'subscription_id', type: 'uuid', keys: 'secret_keys', hasNoApplication: true },
  kyc_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
  kyc_former_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
} as const;
export type WrappedTable = keyof typeof WRAPPED;
export const WRAPPED_TABLES = Object.keys(WRAPPED) as WrappedTable[];

/**
 * The wrapped data keys of one row; an address has also that of its former secret. `application_id` is "" in tables that do
 * not have it.
 */
export type WrappedRow = { id: string; application_id: string; keys: WrappedKey[] };

/** New wraps of a row. */
export type WrapChange = { id: string; before: WrappedKey[]; after: WrappedKey[] };

/** Rows with a data key that this key does not wrap. */
const isToWrap = (sql: Queryable, table: WrappedTable, key_id: string) => {
  const keys = sql(WRAPPED[table].keys);
  return sql`jsonb_path_exists(${keys}, '$[*] ? (@.key_id != $id)', jsonb_build_object('id', ${key_id}::text))`;
};

/** Counts the rows whose data key is not wrapped by this key. */
export const countWrappedByOthers = (sql: Queryable, table: WrappedTable, key_id: string) =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from ${sql(table)} where ${isToWrap(sql, table, key_id)}`);

/** Lists the next rows by id that `countWrappedByOthers` counts. @param page.after the last id; null: from the first */
export const listWrappedByOthers = (
  sql: Queryable,
  table: WrappedTable,
  { key_id, after, limit }: { key_id: string; after: string | null; limit: number },
) => {
  const { id, keys } = WRAPPED[table];
  return sql<WrappedRow[]>`
    select ${sql(id)}::text as id, ${'hasNoApplication' in WRAPPED[table] ? sql`''` : sql`application_id`} as application_id,
           ${sql(keys)} as keys
    from ${sql(table)}
    where ${isToWrap(sql, table, key_id)} ${after === null ? sql`` : sql`and ${sql(id)} > ${after}`}
    order by ${sql(id)} limit ${limit}`;
};

/** Replaces the wraps of rows, except where they changed since they were read. @returns the number replaced */
export const replaceWraps = (sql: Queryable, table: WrappedTable, rows: readonly WrapChange[]) => {
  const { id, type, keys } = WRAPPED[table];
  return countRows(sql`
    update ${sql(table)} t set ${sql(keys)} = n.after::jsonb
    from unnest(
      ${rows.map((row) => row.id)}::text[], ${rows.map((row) => JSON.stringify(row.before))}::text[],
      ${rows.map((row) => JSON.stringify(row.after))}::text[]
    ) as n(id, before, after)
    where t.${sql(id)} = n.id::${sql(type)} and t.${sql(keys)} = n.before::jsonb`);
};

export type SealedCount = { table: WrappedTable; key_id: string; count: number };

/** More keys than an installation has. A stolen console or worker may name as many as it likes. */
const KEYS_MAX = 200;

/** Counts the data keys that each key-encryption key wraps. A key with 0 can be removed. */
export const countWrapsByKey = (sql: Queryable): Promise<SealedCount[]> =>
  sql<SealedCount[]>`
    select table_name as table, left(key_id, 100) as key_id, wraps as count from count_wraps()
    order by wraps desc limit ${KEYS_MAX}`;
