import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Database, Queryable } from '#db/client.ts';
import { lockActiveApplication } from '#db/queries/applications.ts';
import { clearFailures, type Failure, recordFailures } from '#db/queries/failures.ts';
import {
  findContentProvider,
  findKycRecord,
  type KycRecordRow,
  lockFingerprintKey,
  lockKycState,
  mapContentProvider,
  replaceKycRecord,
  saveKycState,
} from '#db/queries/kyc.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import type { KycRecord } from '#src/contract/application.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { openFingerprintKey, recordFingerprint, taxIdFingerprint } from '#src/kyc/fingerprints.ts';
import { type KycFields, type SealedFields, sealKycRecord } from '#src/kyc/record.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** One pull: whose, and when it was asked for by the database's clock. */
export type KycPull = { application_id: string; asked_at: Date };
/** What became of an answer. `overtaken`: nothing was written. */
export type KycOutcome = 'sealed' | 'unchanged' | 'not_provided' | 'cp_id_changed' | 'overtaken';

/** Not after a later answer, an erasure, or the application's removal. Locks what it looks at. */
const isWanted = async (tx: Queryable, { application_id, asked_at }: KycPull): Promise<boolean> => {
  if (!(await lockActiveApplication(tx, application_id))) return false;
  const now = await lockKycState(tx, application_id);
  return now.state !== 'erased' && (now.asked_at === null || now.asked_at < asked_at);
};

/**
 * Write what cp.queryKYC answered, in one transaction: the mapping of `cp_id`, the sealed record if it changed,
 * and the state. Replaying it writes nothing more. A key service is asked before the transaction, never in it:
 * a slow one must not keep the pool's connections from everything else.
 * @param record null: no data (design, section 5, decision 16); the record before it is kept
 * @throws KeyError when the record can't be sealed: then nothing was written
 */
export const storeKycAnswer = async (
  sql: Database,
  keys: KeyRing,
  pull: KycPull,
  record: KycRecord | null,
): Promise<KycOutcome> => {
  if (record === null) return sql.begin((tx) => storeNothing(tx, pull)) as Promise<KycOutcome>;
  // Most answers bring nothing new: it is sealed once that is known not to be so.
  let draft = await fingerprintRecord(sql, keys, pull, record);
  for (;;) {
    const outcome = (await sql.begin((tx) => storeRecord(tx, pull, record.cp_id, draft))) as
      | KycOutcome
      | undefined;
    if (outcome !== undefined) return outcome;
    const fingerprints = await fingerprintRecord(sql, keys, pull, record);
    draft = { ...fingerprints, sealed: await sealKycRecord(keys, pull.application_id, fieldsOf(record)) };
  }
};

const storeNothing = async (tx: Queryable, pull: KycPull): Promise<KycOutcome> => {
  const { application_id, asked_at } = pull;
  if (!(await isWanted(tx, pull))) return 'overtaken';
  await saveKycState(tx, application_id, { state: 'not_provided', asked_at });
  await clearFailures(tx, application_id, 'query_cp_kyc', [NO_GAME]);
  return 'not_provided';
};

/** What is made of a record before the transaction that stores it. */
type Draft = Pick<KycRecordRow, 'fingerprint' | 'tax_id_fingerprint'> & {
  /** Of the fingerprint key: it holds as long as these are what is stored. */
  wraps: WrappedKey[];
  sealed?: SealedFields;
};

const fieldsOf = ({ cp_id: _application_cp_id, ...fields }: KycRecord): KycFields => fields;

const fingerprintRecord = async (
  sql: Database,
  keys: KeyRing,
  { application_id }: KycPull,
  record: KycRecord,
): Promise<Draft> => {
  const { key, wraps } = await openFingerprintKey(sql, keys);
  return {
    wraps,
    fingerprint: recordFingerprint(key, application_id, fieldsOf(record)),
    tax_id_fingerprint: taxIdFingerprint(key, record.tax_id),
  };
};

/**
 * Decide under lock what the answer comes to, and write it.
 * @returns undefined when it takes another draft, nothing written: this one is not sealed and must be, or a
 * reseal came between, and this process may not have the keys any more
 */
const storeRecord = async (
  tx: Queryable,
  pull: KycPull,
  application_cp_id: string,
  { wraps, sealed, ...fingerprints }: Draft,
): Promise<KycOutcome | undefined> => {
  const { application_id, asked_at } = pull;
  if (!(await isWanted(tx, pull))) return 'overtaken';
  const provider = await findContentProvider(tx, application_id);
  if (provider !== undefined && provider.application_cp_id !== application_cp_id) {
    await refuseCpId(tx, pull, application_cp_id);
    return 'cp_id_changed';
  }
  // Held until the transaction ends, so that a reseal waits for records that are being written.
  if (!isDeepStrictEqual(await lockFingerprintKey(tx), wraps)) return undefined;
  const before = await findKycRecord(tx, application_id);
  const unchanged =
    before !== undefined &&
    before.cp_id === provider?.cp_id &&
    Buffer.compare(before.fingerprint, fingerprints.fingerprint) === 0;
  if (!unchanged) {
    if (sealed === undefined) return undefined;
    const { cp_id } = provider ?? (await mapFirst(tx, application_id, application_cp_id));
    await replaceKycRecord(tx, { application_id, cp_id, ...sealed, ...fingerprints, received_at: asked_at });
  }
  await saveKycState(tx, application_id, { state: 'sealed', asked_at, refused_cp_id: null });
  await clearFailures(tx, application_id, 'query_cp_kyc', [NO_GAME]);
  return unchanged ? 'unchanged' : 'sealed';
};

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
