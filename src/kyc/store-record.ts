import { randomUUIDv7 } from 'node:crypto';
import type { Database, Queryable } from '#db/client.ts';
import { lockActiveApplication, lockCalledApplication, type SealedTarget } from '#db/queries/applications.ts';
import type { Failure } from '#db/queries/failures.ts';
import {
  type CurrentProvider,
  type FieldFingerprints,
  findContentProvider,
  findFieldFingerprints,
  lockFingerprintKey,
  lockKycState,
  mapContentProvider,
  refreshSealed,
  replaceKycRecord,
  saveKycState,
} from '#db/queries/kyc.ts';
import type { KycRecord } from '#src/contract/application.ts';
import { CatalogueError } from '#src/errors.ts';
import {
  changedFields,
  type FingerprintKey,
  fieldFingerprints,
  recordFingerprint,
  taxIdFingerprint,
} from '#src/kyc/fingerprints.ts';
import { type KycFields, type SealedFields, sealKycRecord } from '#src/kyc/record.ts';
import { recordSealed } from '#src/kyc/record-sealed.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

export type KycPull = {
  application_id: string;
  /** When the pull began, by the database's clock. */
  pulled_at: Date;
  /** The application as it was called. Absent: nothing was called. */
  called?: SealedTarget;
};
/** Result of storing a pull. `overtaken`: nothing was written. */
export type KycOutcome = 'sealed' | 'unchanged' | 'not_provided' | 'cp_id_changed' | 'overtaken';

/** The stored record or the fingerprint key changed during the seal. Nothing was written, and a retry may succeed. */
export class KycConflictError extends CatalogueError {
  override readonly name = 'KycConflictError';

  constructor(application_id: string) {
    super(`The KYC record or the fingerprint key changed while a record of ${application_id} was sealed.`);
  }
}

type PulledRecord = {
  application_cp_id: string;
  fields: KycFields;
  fingerprint: Uint8Array;
  tax_id_fingerprint: Uint8Array | null;
};

/**
 * Writes the response of cp.queryKYC in one transaction: the mapping of `cp_id`, the sealed record if it changed, and the
 * state. Replaying it writes nothing more. The record is sealed before the transaction, because a slow key service must not
 * occupy a connection.
 * @param record null: the application returned no data; the stored record stays
 * @throws KeyError when the record can't be sealed, KycConflictError on a race, CatalogueError when the webhooks or the
 * token have changed since the call; nothing is written then
 */
export const storeKycRecord = async (
  sql: Database,
  { keys, fingerprintKey }: { keys: KeyRing; fingerprintKey: FingerprintKey },
  pull: KycPull,
  record: KycRecord | null,
): Promise<KycOutcome> => {
  const { application_id } = pull;
  if (record === null) return sql.begin((tx) => storeNotProvided(tx, pull));
  const { cp_id: application_cp_id, ...fields } = record;
  const pulled = {
    application_cp_id,
    fields,
    fingerprint: recordFingerprint(fingerprintKey.key, application_id, fields),
    tax_id_fingerprint: taxIdFingerprint(fingerprintKey.key, fields.tax_id),
  };
  const stored = await findContentProvider(sql, application_id);
  const change = compare(stored, pulled);
  // Most pulls end here.
  if (stored?.state === 'sealed' && change === 'unchanged' && (await refreshSealed(sql, pull, stored)))
    return 'unchanged';
  const sealed = change === 'sealed' ? await sealKycRecord(keys, application_id, fields) : undefined;
  const outcome = await sql.begin((tx) => storeRecord(tx, pull, pulled, fingerprintKey, sealed));
  if (outcome === 'sealed' && sealed !== undefined)
    recordSealed.publish({ application_id, record_id: sealed.record_id });
  return outcome;
};

const compare = (
  stored: CurrentProvider | undefined,
  pulled: Pick<PulledRecord, 'application_cp_id' | 'fingerprint'>,
) => {
  if (stored === undefined) return 'sealed';
  if (stored.application_cp_id !== pulled.application_cp_id) return 'cp_id_changed';
  const { fingerprint } = stored;
  return fingerprint !== null && Buffer.compare(fingerprint, pulled.fingerprint) === 0
    ? 'unchanged'
    : 'sealed';
};

/** Locks the application and its KYC state. @returns false after a later pull, an erasure or a removal */
const lockIfLatest = async (tx: Queryable, pull: KycPull): Promise<boolean> => {
  const { application_id, pulled_at, called } = pull;
  const isActive =
    called === undefined
      ? await lockActiveApplication(tx, application_id)
      : await lockCalledApplication(tx, application_id, called);
  if (!isActive) return false;
  const stored = await lockKycState(tx, application_id);
  return stored.state !== 'erased' && (stored.pulled_at === null || stored.pulled_at < pulled_at);
};

const storeNotProvided = async (tx: Queryable, pull: KycPull): Promise<KycOutcome> => {
  if (!(await lockIfLatest(tx, pull))) return 'overtaken';
  await saveKycState(tx, pull.application_id, { state: 'not_provided', pulled_at: pull.pulled_at });
  return 'not_provided';
};

/** Stores a record. @param sealed undefined if the stored record was equal before the transaction */
const storeRecord = async (
  tx: Queryable,
  pull: KycPull,
  { application_cp_id, fields, ...fingerprints }: PulledRecord,
  { key, wraps }: FingerprintKey,
  sealed: SealedFields | undefined,
): Promise<KycOutcome> => {
  const { application_id, pulled_at } = pull;
  if (!(await lockIfLatest(tx, pull))) return 'overtaken';
  const stored = await findContentProvider(tx, application_id);
  const outcome = compare(stored, { application_cp_id, ...fingerprints });
  if (outcome === 'cp_id_changed') {
    // The mapping is one to one, so an operator must accept another cp_id first.
    const failure = { kind: 'cp_id_changed', reasons: [{ path: 'cp_id', code: 'changed' }] };
    await saveKycState(tx, application_id, {
      state: outcome,
      pulled_at,
      refused_cp_id: application_cp_id,
      failure,
    });
    return outcome;
  }
  if (outcome === 'sealed') {
    // The lock makes a reseal wait for this record. After a reseal this process may lack the new key.
    if (sealed === undefined || !(await lockFingerprintKey(tx, wraps)))
      throw new KycConflictError(application_id);
    const first = { cp_id: randomUUIDv7(), application_id, application_cp_id };
    const { cp_id } = stored ?? (await mapContentProvider(tx, first));
    const { record_id } = sealed;
    await replaceKycRecord(tx, {
      application_id,
      cp_id,
      ...sealed,
      ...fingerprints,
      received_at: pulled_at,
      changed_fields: compareFields(await findFieldFingerprints(tx, application_id), cp_id, key, fields),
      field_fingerprints: fieldFingerprints(key, { application_id, record_id }, fields),
    });
  }
  await saveKycState(tx, application_id, { state: 'sealed', pulled_at, refused_cp_id: null });
  return outcome;
};

/** Names the fields that differ from the current record, `cp_id` included. Empty for a first record. */
const compareFields = (
  former: FieldFingerprints | undefined,
  cp_id: string,
  key: Uint8Array,
  fields: KycFields,
): string[] => {
  if (former === undefined) return [];
  return [...(former.cp_id === cp_id ? [] : ['cp_id']), ...changedFields(key, former, fields)];
};

/**
 * Records that a pull failed and is not retried. The stored record stays.
 * @returns false when the pull was overtaken, and nothing was written
 * @throws CatalogueError when the webhooks or the token have changed since the call
 */
export const recordKycFailure = (
  sql: Database,
  pull: KycPull,
  failure: Omit<Failure, 'application_game_id'>,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    if (!(await lockIfLatest(tx, pull))) return false;
    await saveKycState(tx, pull.application_id, { state: 'failed', pulled_at: pull.pulled_at, failure });
    return true;
  });
