import type { Queryable } from '#db/client.ts';
import type { ApplicationRow, SealedTarget } from '#db/queries/applications.ts';
import { countRows, onlyValue, readColumn } from '#db/rows.ts';
import type { WrappedKey } from '#db/schema/applications.ts';

/** Every table with wrapped data keys: its id and the column of the wraps. The ring's wrap comes first. */
const WRAPPED = {
  kyc_keys: { id: 'purpose', type: 'text', keys: 'data_keys' },
  applications: { id: 'application_id', type: 'text', keys: 'access_token_keys' },
  event_webhooks: { id: 'application_id', type: 'text', keys: 'secret_keys' },
  kyc_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
  kyc_former_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
} as const;
export type WrappedTable = keyof typeof WRAPPED;
export const WRAPPED_TABLES = Object.keys(WRAPPED) as WrappedTable[];

/** The wrapped data key of one row. `application_id` is "" in `kyc_keys`. */
export type WrappedRow = {
  id: string;
  application_id: string;
  keys: WrappedKey[];
  /** Null in the other tables. */
  application: TokenRow | null;
};
/** An application's sealed token, and where it is sent. */
type TokenRow = SealedTarget & Pick<ApplicationRow, 'application_id'>;

/** New wraps of a row. `access_token`: the token sealed again; null: unchanged. */
export type WrapChange = {
  id: string;
  before: WrappedKey[];
  after: WrappedKey[];
  access_token: Uint8Array | null;
};

/** Rows to wrap: the first wrap is not by this key, `dropWrap` wraps it too, or its token is bound to no origin. */
const isToWrap = (sql: Queryable, table: WrappedTable, key_id: string, dropWrap: string | undefined) => {
  const keys = sql(WRAPPED[table].keys);
  const dropped = sql`or ${keys} @> ${sql.json([{ key_id: dropWrap ?? '' }])}`;
  const ofToken =
    table === 'applications'
      ? sql`or get_byte(access_token, 0) = 1 ${dropped}`
      : table === 'event_webhooks'
        ? dropped
        : sql``;
  return sql`${keys} <> '[]'::jsonb and (${keys} -> 0 ->> 'key_id' <> ${key_id} ${ofToken})`;
};

/** The keys that wrap access tokens and event secrets: ids, sorted. */
export const listWrappingKeys = (sql: Queryable) =>
  readColumn(sql<{ key_id: string }[]>`
    select distinct wrap ->> 'key_id' as key_id
    from (select jsonb_array_elements(access_token_keys) as wrap from applications
          union all select jsonb_array_elements(secret_keys) from event_webhooks) as wraps
    order by key_id`);

/** Number of rows whose data key is not wrapped by this key, or whose token is not bound. */
export const countWrappedByOthers = (
  sql: Queryable,
  table: WrappedTable,
  key_id: string,
  dropWrap?: string,
) =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from ${sql(table)} where ${isToWrap(sql, table, key_id, dropWrap)}`);

/** The next rows by id that `countWrappedByOthers` counts. @param page.after the last id; null: from the first */
export const listWrappedByOthers = async (
  sql: Queryable,
  table: WrappedTable,
  page: { key_id: string; dropWrap?: string | undefined; after: string | null; limit: number },
): Promise<WrappedRow[]> => {
  const { id, keys } = WRAPPED[table];
  const { key_id, dropWrap, after, limit } = page;
  const token = sql`, access_token, query_game_list_webhook, query_game_detail_webhook, query_cp_kyc_webhook`;
  const rows = await sql<(WrappedRow & TokenRow)[]>`
    select ${sql(id)}::text as id, ${table === 'kyc_keys' ? sql`''` : sql`application_id`} as application_id,
           ${sql(keys)} as keys ${table === 'applications' ? token : sql``}
    from ${sql(table)}
    where ${isToWrap(sql, table, key_id, dropWrap)} ${after === null ? sql`` : sql`and ${sql(id)} > ${after}`}
    order by ${sql(id)} limit ${limit}`;
  return rows.map((row) => ({ ...row, application: table === 'applications' ? row : null }));
};

/** Replace the wraps of rows, except where they changed since they were read. @returns the number replaced */
export const replaceWraps = (sql: Queryable, table: WrappedTable, rows: readonly WrapChange[]) => {
  const { id, type, keys } = WRAPPED[table];
  const token = sql`, access_token = coalesce(decode(n.token, 'base64'), t.access_token)`;
  const tokens = rows.map(({ access_token }) => access_token && Buffer.from(access_token).toString('base64'));
  return countRows(sql`
    update ${sql(table)} t set ${sql(keys)} = n.after::jsonb ${table === 'applications' ? token : sql``}
    from unnest(
      ${rows.map((row) => row.id)}::text[], ${rows.map((row) => JSON.stringify(row.before))}::text[],
      ${rows.map((row) => JSON.stringify(row.after))}::text[], ${tokens}::text[]
    ) as n(id, before, after, token)
    where t.${sql(id)} = n.id::${sql(type)} and t.${sql(keys)} = n.before::jsonb`);
};

export type SealedCount = { table: WrappedTable; key_id: string; count: number };

/** Counts the data keys that each key-encryption key wraps. A key with 0 can be removed. */
export const countWrapsByKey = (sql: Queryable): Promise<SealedCount[]> =>
  sql<SealedCount[]>`select table_name as table, key_id, wraps as count from count_wraps()`;
