import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { isAsSeen, type SealedTarget } from '#db/queries/applications.ts';
import { type Failure, recordFailures } from '#db/queries/failures.ts';
import { firstRow, isOneRow, onlyRow, readValue } from '#db/rows.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import type { contentProviders, kycAccessLog, kycRecords, kycStates } from '#db/schema/kyc.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { type KycState, NO_GAME } from '#src/contract/words.ts';

export type ContentProviderRow = InferSelectModel<typeof contentProviders>;
export type KycRecordRow = InferSelectModel<typeof kycRecords>;
export type KycStateRow = InferSelectModel<typeof kycStates>;
export type KycAccessRow = InferSelectModel<typeof kycAccessLog>;

/** The KYC state of every registered application; `pending` before its first pull. */
export const listKycStates = (sql: Queryable) =>
  sql<{ application_id: string; state: KycState }[]>`
    select application_id, coalesce(s.state, 'pending') as state
    from applications a left join kyc_states s using (application_id)
    where a.status <> 'removed' order by application_id`;

/**
 * The KYC state of one application, and the database's clock. A removed application is found too, because its record stays
 * until it is erased.
 */
export const findKycState = (sql: Queryable, application_id: string) =>
  firstRow(sql<(KycStateRow & { is_removed: boolean; now: Date })[]>`
    select a.application_id, coalesce(s.state, 'pending') as state, s.pulled_at, s.requested_at, s.refused_cp_id,
           s.reason, a.status = 'removed' as is_removed, clock_timestamp() as now
    from applications a left join kyc_states s using (application_id)
    where a.application_id = ${application_id}`);

/** Locks the KYC state of an application until the transaction ends, so that one process writes at a time. */
export const lockKycState = async (tx: Queryable, application_id: string): Promise<KycStateRow> => {
  await tx`insert into kyc_states (application_id) values (${application_id}) on conflict do nothing`;
  return onlyRow(tx<KycStateRow[]>`
    select * from kyc_states where application_id = ${application_id} for update`);
};

type NextKycState = {
  state: KycState;
  pulled_at: Date | null;
  /** Left out: unchanged. */
  refused_cp_id?: string | null;
  failure?: Omit<Failure, 'application_game_id'>;
};

/** Writes a locked state. Its failure goes to `ingest_failures`; without one the earlier failure is deleted. */
export const saveKycState = async (
  tx: Queryable,
  application_id: string,
  { state, pulled_at, refused_cp_id, failure }: NextKycState,
): Promise<void> => {
  await tx`
    update kyc_states
    set state = ${state}, pulled_at = ${pulled_at}, requested_at = ${unlessAnswered(tx, pulled_at)},
        reason = ${state === 'failed' ? (failure?.kind ?? null) : null},
        refused_cp_id = ${refused_cp_id === undefined ? tx`refused_cp_id` : refused_cp_id}
    where application_id = ${application_id}`;
  if (failure === undefined) await tx`select clear_kyc_failure(${application_id})`;
  else
    await recordFailures(tx, application_id, 'query_cp_kyc', [{ application_game_id: NO_GAME, ...failure }]);
};

/** The request of a pull, unless a pull that began at `pulled_at` answers it. */
const unlessAnswered = (sql: Queryable, pulled_at: Date | null) =>
  sql`case when requested_at <= ${pulled_at}::timestamptz then null else requested_at end`;

/**
 * Requests a pull. The next pull that begins answers the request.
 * @param of which applications: `active` ones alone, or any
 * @returns false if there is no such application
 */
export const requestKycPull = (
  sql: Queryable,
  application_id: string,
  of: 'any' | 'active' = 'any',
): Promise<boolean> =>
  isOneRow(sql`
    insert into kyc_states (application_id, requested_at)
    select application_id, now() from applications
    where application_id = ${application_id} and (${of === 'any'} or status = 'active')
    on conflict (application_id) do update set requested_at = now()`);

/**
 * Records that a pull found the sealed record unchanged. An equal `pulled_at` of the state shows that it is the record that
 * the pull compared, because each statement that replaces a record or its provider also writes the state.
 * @param seen the state with which the record was compared
 * @returns false when the state, the webhooks or the token have changed since, and nothing was written
 */
export const refreshSealed = (
  sql: Queryable,
  { application_id, pulled_at, called }: { application_id: string; pulled_at: Date; called?: SealedTarget },
  seen: Pick<KycStateRow, 'pulled_at'>,
): Promise<boolean> =>
  isOneRow(sql`
    with called as (
      select application_id from applications
      where application_id = ${application_id} and status <> 'removed'
        ${called === undefined ? sql`` : sql`and ${isAsSeen(sql, called)}`}
      for share
    )
    update kyc_states s set pulled_at = ${pulled_at}, requested_at = ${unlessAnswered(sql, pulled_at)}
    from called
    where s.application_id = called.application_id and s.state = 'sealed' and s.pulled_at = ${seen.pulled_at}
      and s.pulled_at < ${pulled_at}`);

/** Forgets the request of a pull that wrote nothing, because the record is erased, or a later pull has ended. */
export const forgetKycRequest = async (
  sql: Queryable,
  { application_id, pulled_at }: { application_id: string; pulled_at: Date },
): Promise<void> => {
  await sql`
    update kyc_states set requested_at = ${unlessAnswered(sql, pulled_at)}
    where application_id = ${application_id} and requested_at is not null`;
};

/** The request of an application's record. */
export type KycRequest = { application_id: string; requested_at: string };

/** Requests of records, at most `limit`, the longest waiting first. @param after the last one of the former call */
export const listRequestedKyc = (sql: Queryable, limit: number, after?: KycRequest) =>
  sql<KycRequest[]>`
    select k.application_id, k.requested_at::text from kyc_states k join applications a using (application_id)
    where k.requested_at is not null and a.status <> 'removed'
      and (k.requested_at, k.application_id) > (${after?.requested_at ?? '-infinity'}::timestamptz, ${after?.application_id ?? ''})
    order by k.requested_at, k.application_id limit ${limit}`;

/** Allows pulls of an erased record, and requests one. @returns whether it was erased */
export const reopenErased = (sql: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(sql`
    update kyc_states set state = 'pending', requested_at = now()
    where application_id = ${application_id} and state = 'erased'`);

/** A provider, the fingerprint of its stored record (null when there is none), and the KYC state. */
export type CurrentProvider = ContentProviderRow &
  Pick<KycStateRow, 'state' | 'pulled_at'> & { fingerprint: Uint8Array | null };

/** The current provider of an application. */
export const findContentProvider = (sql: Queryable, application_id: string) =>
  firstRow(sql<CurrentProvider[]>`
    select p.*, r.fingerprint, s.state, s.pulled_at
    from content_providers p left join kyc_records r using (application_id, cp_id)
      left join kyc_states s using (application_id)
    where application_id = ${application_id} and p.replaced_at is null`);

/** Maps an application's cp_id to a platform cp_id, and replaces the current mapping. */
export const mapContentProvider = async (
  tx: Queryable,
  provider: Pick<ContentProviderRow, 'cp_id' | 'application_id' | 'application_cp_id'>,
): Promise<ContentProviderRow> => {
  await tx`
    update content_providers set replaced_at = now()
    where application_id = ${provider.application_id} and replaced_at is null`;
  return onlyRow(tx<ContentProviderRow[]>`
    insert into content_providers ${tx(provider)}
    on conflict (application_id, application_cp_id) do update set replaced_at = null
    returning *`);
};

export const findKycRecord = (sql: Queryable, application_id: string) =>
  firstRow(sql<KycRecordRow[]>`select * from kyc_records where application_id = ${application_id}`);

/** Fingerprints of the current record's fields. They show which fields a response changes. */
export type FieldFingerprints = Pick<
  KycRecordRow,
  'application_id' | 'record_id' | 'cp_id' | 'field_fingerprints'
>;

export const findFieldFingerprints = (sql: Queryable, application_id: string) =>
  firstRow(sql<FieldFingerprints[]>`
    select application_id, record_id, cp_id, field_fingerprints from kyc_records
    where application_id = ${application_id}`);

/** The columns of a former version: all but the fingerprints. */
const KEPT = [
  'record_id',
  'application_id',
  'cp_id',
  ...KYC_SEALED_FIELDS,
  'data_keys',
  'received_at',
  'changed_fields',
];

/** Stores a record and keeps the one before it as a former version. The caller locks the KYC state. */
export const replaceKycRecord = async (tx: Queryable, record: KycRecordRow): Promise<void> => {
  // A stolen worker may have stored a former version of this id. Then the insert below would fail each time.
  await tx`
    delete from kyc_former_records
    where record_id = (select record_id from kyc_records where application_id = ${record.application_id})`;
  await tx`
    with former as (delete from kyc_records where application_id = ${record.application_id} returning *)
    insert into kyc_former_records (${tx(KEPT)}) select ${tx(KEPT)} from former`;
  await tx`insert into kyc_records ${tx({ ...record, data_keys: tx.json(record.data_keys) as never })}`;
};

/** Deletes every version with its data keys and fingerprints. @returns the number of versions */
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
export const findFingerprintKey = (sql: Queryable) =>
  readValue(sql<{ data_keys: WrappedKey[] }[]>`
    select data_keys from kyc_keys where purpose = 'fingerprint'`);

/** The wrapped private key that opens what the portal and the console seal. */
export const findEventBox = (sql: Queryable) =>
  readValue(sql<{ data_keys: WrappedKey[] }[]>`select data_keys from kyc_keys where purpose = 'events'`);

/** The public key with which the portal and the console seal. */
export const findEventBoxKey = (sql: Queryable) =>
  readValue(sql<{ public_key: Uint8Array }[]>`select public_key from kyc_keys where purpose = 'events'`);

/** Stores the key pair if there is none. */
export const insertEventBox = async (sql: Queryable, public_key: Uint8Array, wraps: WrappedKey[]) => {
  await sql`
    insert into kyc_keys (purpose, public_key, data_keys) values ('events', ${public_key}, ${sql.json(wraps)})
    on conflict do nothing`;
};

/** Locks the fingerprint key against a reseal until the transaction ends. @returns false when its wraps changed */
export const lockFingerprintKey = (tx: Queryable, wraps: WrappedKey[]): Promise<boolean> =>
  isOneRow(tx`
    select from kyc_keys where purpose = 'fingerprint' and data_keys = ${tx.json(wraps)} for share`);

/** Stores the fingerprint key if there is none. */
export const insertFingerprintKey = async (sql: Queryable, wraps: WrappedKey[]): Promise<void> => {
  await sql`
    insert into kyc_keys (purpose, data_keys) values ('fingerprint', ${sql.json(wraps)}) on conflict do nothing`;
};
