import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import type { contentProviders, kycAccessLog, kycRecords, kycStates } from '#db/schema/kyc.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import type { KycState } from '#src/contract/words.ts';

export type ContentProviderRow = InferSelectModel<typeof contentProviders>;
export type KycRecordRow = InferSelectModel<typeof kycRecords>;
export type KycStateRow = InferSelectModel<typeof kycStates>;
export type KycAccessRow = InferSelectModel<typeof kycAccessLog>;

/** Where every registered application's record stands; `pending` where it was never asked for. */
export const listKycStates = (sql: Queryable): Promise<{ application_id: string; state: KycState }[]> =>
  sql<{ application_id: string; state: KycState }[]>`
    select application_id, coalesce(s.state, 'pending') as state
    from applications a left join kyc_states s using (application_id)
    where a.status <> 'removed' order by application_id`;

/**
 * Where one application's record stands, and the database's clock. An application that was removed is found
 * too: its record stays until it is erased.
 */
export const findKycState = async (
  sql: Queryable,
  application_id: string,
): Promise<(KycStateRow & { now: Date }) | undefined> => {
  const rows = await sql<(KycStateRow & { now: Date })[]>`
    select a.application_id, coalesce(s.state, 'pending') as state, s.asked_at, s.refused_cp_id, s.reason,
           clock_timestamp() as now
    from applications a left join kyc_states s using (application_id)
    where a.application_id = ${application_id}`;
  return rows[0];
};

/** Lock the application's KYC: one writer at a time, until the transaction ends. */
export const lockKycState = async (tx: Queryable, application_id: string): Promise<KycStateRow> => {
  await tx`insert into kyc_states (application_id) values (${application_id}) on conflict do nothing`;
  const rows = await tx<
    KycStateRow[]
  >`select * from kyc_states where application_id = ${application_id} for update`;
  if (rows[0] === undefined) throw new Error('a row that was just inserted is there');
  return rows[0];
};

/** The row is locked by the caller. @param next.refused_cp_id left out: as it was */
export const saveKycState = async (
  tx: Queryable,
  application_id: string,
  next: { state: KycState; asked_at: Date | null; refused_cp_id?: string | null; reason?: string },
): Promise<void> => {
  await tx`
    update kyc_states
    set state = ${next.state}, asked_at = ${next.asked_at}, reason = ${next.reason ?? null},
        refused_cp_id = ${next.refused_cp_id === undefined ? tx`refused_cp_id` : next.refused_cp_id}
    where application_id = ${application_id}`;
};

/** An erased record may be asked for again. @returns whether it was erased */
export const reopenErased = async (sql: Queryable, application_id: string): Promise<boolean> => {
  const rows = await sql`
    update kyc_states set state = 'pending' where application_id = ${application_id} and state = 'erased'
    returning application_id`;
  return rows.length === 1;
};

/** The application's current provider. */
export const findContentProvider = async (
  sql: Queryable,
  application_id: string,
): Promise<ContentProviderRow | undefined> => {
  const rows = await sql<ContentProviderRow[]>`
    select * from content_providers where application_id = ${application_id} and replaced_at is null`;
  return rows[0];
};

/** Map an application's cp_id to one of the platform, in place of the current one if there is one. */
export const mapContentProvider = async (
  tx: Queryable,
  provider: Pick<ContentProviderRow, 'cp_id' | 'application_id' | 'application_cp_id' | 'accepted_by'>,
): Promise<ContentProviderRow> => {
  await tx`
    update content_providers set replaced_at = now()
    where application_id = ${provider.application_id} and replaced_at is null`;
  const rows = await tx<ContentProviderRow[]>`
    insert into content_providers ${tx(provider)}
    on conflict (application_id, application_cp_id) do update
      set replaced_at = null, accepted_by = excluded.accepted_by
    returning *`;
  return rows[0] as ContentProviderRow;
};

export const findKycRecord = async (
  sql: Queryable,
  application_id: string,
): Promise<KycRecordRow | undefined> => {
  const rows = await sql<KycRecordRow[]>`select * from kyc_records where application_id = ${application_id}`;
  return rows[0];
};

/** What a former version keeps: no fingerprints. */
const KEPT = ['record_id', 'application_id', 'cp_id', ...KYC_SEALED_FIELDS, 'data_keys', 'received_at'];

/** Store a record; the one before it becomes a former one. The application's KYC is locked by the caller. */
export const replaceKycRecord = async (tx: Queryable, record: KycRecordRow): Promise<void> => {
  await tx`
    with former as (delete from kyc_records where application_id = ${record.application_id} returning *)
    insert into kyc_former_records (${tx(KEPT)}) select ${tx(KEPT)} from former`;
  await tx`insert into kyc_records ${tx({ ...record, data_keys: tx.json(record.data_keys) as never })}`;
};

export const countFormerRecords = async (sql: Queryable, application_id: string): Promise<number> => {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from kyc_former_records where application_id = ${application_id}`;
  return rows[0]?.count ?? 0;
};

/** The other applications whose developer has this tax id. */
export const listSameTaxId = async (sql: Queryable, record: KycRecordRow): Promise<string[]> => {
  const rows = await sql<{ application_id: string }[]>`
    select application_id from kyc_records
    where tax_id_fingerprint = ${record.tax_id_fingerprint} and application_id <> ${record.application_id}
    order by application_id`;
  return rows.map((row) => row.application_id);
};

/** Delete every version, its keys and fingerprints. @returns how many versions */
export const deleteKycRecords = async (tx: Queryable, application_id: string): Promise<number> => {
  const former = await tx`delete from kyc_former_records where application_id = ${application_id}`;
  const current = await tx`delete from kyc_records where application_id = ${application_id}`;
  return former.count + current.count;
};

export const insertKycAccess = async (
  sql: Queryable,
  entry: Pick<KycAccessRow, 'application_id' | 'record_id' | 'action' | 'accessed_by' | 'reason'>,
): Promise<void> => {
  await sql`insert into kyc_access_log ${sql(entry)}`;
};

/** The wrapped fingerprint key. */
export const findFingerprintKey = async (sql: Queryable): Promise<WrappedKey[] | undefined> => {
  const rows = await sql<{ data_keys: WrappedKey[] }[]>`
    select data_keys from kyc_keys where purpose = 'fingerprint'`;
  return rows[0]?.data_keys;
};

/** The same, locked against a reseal until the transaction ends. */
export const lockFingerprintKey = async (tx: Queryable): Promise<WrappedKey[] | undefined> => {
  const rows = await tx<{ data_keys: WrappedKey[] }[]>`
    select data_keys from kyc_keys where purpose = 'fingerprint' for share`;
  return rows[0]?.data_keys;
};

/** Store it if there is none. */
export const insertFingerprintKey = async (tx: Queryable, data_keys: WrappedKey[]): Promise<void> => {
  await tx`
    insert into kyc_keys (purpose, data_keys) values ('fingerprint', ${tx.json(data_keys)}) on conflict do nothing`;
};

/** Every table that holds wrapped data keys: its id, and the column they stand in. The first wrap is the ring's. */
const WRAPPED = {
  kyc_keys: { id: 'purpose', type: 'text', keys: 'data_keys' },
  applications: { id: 'application_id', type: 'text', keys: 'access_token_keys' },
  kyc_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
  kyc_former_records: { id: 'record_id', type: 'uuid', keys: 'data_keys' },
} as const;
export type WrappedTable = keyof typeof WRAPPED;
export const WRAPPED_TABLES = Object.keys(WRAPPED) as WrappedTable[];

/** One row's wrapped data key. `application_id` is "" where the row is nobody's. */
export type WrappedRow = { id: string; application_id: string; keys: WrappedKey[] };

const wrappedByAnother = (sql: Queryable, keys: string, key_id: string) =>
  sql`${sql(keys)} <> '[]'::jsonb and ${sql(keys)} -> 0 ->> 'key_id' <> ${key_id}`;

/** How many rows' data keys another key than this one wraps. */
export const countWrappedByOthers = async (
  sql: Queryable,
  table: WrappedTable,
  key_id: string,
): Promise<number> => {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from ${sql(table)} where ${wrappedByAnother(sql, WRAPPED[table].keys, key_id)}`;
  return rows[0]?.count ?? 0;
};

/** The next rows, by id after `after` (null: from the first), whose data keys another key than this one wraps. */
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

/** Put new wraps in the place of those that were read; a row whose wraps have changed since is left. @returns how many */
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
