import { randomUUIDv7 } from 'node:crypto';
import type { Database, Queryable } from '#db/client.ts';
import { holdInService } from '#db/queries/applications.ts';
import { clearFailures, type Failure, recordFailures } from '#db/queries/failures.ts';
import {
  findContentProvider,
  findKycRecord,
  lockKycState,
  mapContentProvider,
  replaceKycRecord,
  saveKycState,
} from '#db/queries/kyc.ts';
import type { KycRecord } from '#src/contract/application.ts';
import { openFingerprintKey, recordFingerprint, taxIdFingerprint } from '#src/kyc/fingerprints.ts';
import type { KeyRing } from '#src/kyc/key-provider.ts';
import { sealKycRecord } from '#src/kyc/record.ts';

/** One pull: whose, and when it was asked for by the database's clock. */
export type KycPull = { application_id: string; asked_at: Date };
/** What became of an answer. `overtaken`: nothing was written. */
export type KycOutcome = 'sealed' | 'unchanged' | 'not_provided' | 'cp_id_changed' | 'overtaken';

/** A developer's record belongs to no game. */
const NO_GAME = '';

/** Not after a later answer, an erasure, or the application's removal. Locks what it looks at. */
const isWanted = async (tx: Queryable, { application_id, asked_at }: KycPull): Promise<boolean> => {
  if (!(await holdInService(tx, application_id))) return false;
  const now = await lockKycState(tx, application_id);
  return now.state !== 'erased' && (now.asked_at === null || now.asked_at < asked_at);
};

/**
 * Write what cp.queryKYC answered, in one transaction: the mapping of `cp_id`, the sealed record if it changed,
 * and the state. Replaying it writes nothing more.
 * @param record null: no data (design, section 5, decision 16); the record before it is kept
 * @throws KeyError when the record can't be sealed: then nothing was written
 */
export const storeKycAnswer = (
  sql: Database,
  keys: KeyRing,
  pull: KycPull,
  record: KycRecord | null,
): Promise<KycOutcome> =>
  sql.begin(async (tx): Promise<KycOutcome> => {
    const { application_id, asked_at } = pull;
    if (!(await isWanted(tx, pull))) return 'overtaken';
    if (record === null) {
      await saveKycState(tx, application_id, { state: 'not_provided', asked_at });
      await clearFailures(tx, application_id, 'query_cp_kyc', [NO_GAME]);
      return 'not_provided';
    }
    const provider = await findContentProvider(tx, application_id);
    if (provider !== undefined && provider.application_cp_id !== record.cp_id) {
      await refuseCpId(tx, pull, record.cp_id);
      return 'cp_id_changed';
    }
    const { cp_id } = provider ?? (await mapFirst(tx, application_id, record.cp_id));
    const outcome = await storeRecord(tx, keys, pull, cp_id, record);
    await saveKycState(tx, application_id, { state: 'sealed', asked_at, refused_cp_id: null });
    await clearFailures(tx, application_id, 'query_cp_kyc', [NO_GAME]);
    return outcome;
  }) as Promise<KycOutcome>;

const mapFirst = (tx: Queryable, application_id: string, application_cp_id: string) =>
  mapContentProvider(tx, { cp_id: randomUUIDv7(), application_id, application_cp_id, accepted_by: null });

/** The mapping is one to one (decision 17): another `cp_id` waits for an operator, its record is not taken. */
const refuseCpId = async (tx: Queryable, { application_id, asked_at }: KycPull, refused_cp_id: string) => {
  const failure: Failure = {
    application_game_id: NO_GAME,
    kind: 'cp_id_changed',
    reasons: [{ path: 'cp_id', code: 'changed' }],
  };
  await saveKycState(tx, application_id, { state: 'cp_id_changed', asked_at, refused_cp_id });
  await recordFailures(tx, application_id, 'query_cp_kyc', [failure]);
};

const storeRecord = async (
  tx: Queryable,
  keys: KeyRing,
  { application_id, asked_at }: KycPull,
  cp_id: string,
  { cp_id: _application_cp_id, ...fields }: KycRecord,
): Promise<'sealed' | 'unchanged'> => {
  const key = await openFingerprintKey(tx, keys);
  const fingerprint = recordFingerprint(key, application_id, fields);
  const before = await findKycRecord(tx, application_id);
  if (before?.cp_id === cp_id && Buffer.compare(before.fingerprint, fingerprint) === 0) return 'unchanged';
  await replaceKycRecord(tx, {
    application_id,
    cp_id,
    ...(await sealKycRecord(keys, application_id, fields)),
    fingerprint,
    tax_id_fingerprint: taxIdFingerprint(key, fields.tax_id),
    received_at: asked_at,
  });
  return 'sealed';
};

/**
 * Note that a pull failed for good: why, in codes. The record before it is kept.
 * @returns false when it was overtaken: nothing was written
 */
export const recordKycFailure = (
  sql: Database,
  pull: KycPull,
  failure: Omit<Failure, 'application_game_id'>,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    const { application_id, asked_at } = pull;
    if (!(await isWanted(tx, pull))) return false;
    await saveKycState(tx, application_id, { state: 'failed', asked_at, reason: failure.kind });
    await recordFailures(tx, application_id, 'query_cp_kyc', [{ application_game_id: NO_GAME, ...failure }]);
    return true;
  }) as Promise<boolean>;
