import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Database } from '#db/client.ts';
import { findKycState, type KycRecordRow } from '#db/queries/kyc.ts';
import type { KycRecord } from '#src/contract/application.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openFingerprintKey } from '#src/kyc/fingerprints.ts';
import { KycConflictError, type KycPull, storeKycRecord } from '#src/kyc/store-record.ts';
import { isKeyError } from '#src/sealing/errors.ts';
import type { KeyProvider, KeyRing } from '#src/sealing/key-provider.ts';
import { localKey } from '#src/sealing/key-provider.ts';

/** Ten values that stand nowhere else: found anywhere outside their sealed column, they leaked. */
export const PLANTED: KycRecord = {
  cp_id: 'canary-cp-7f31',
  cp_name: 'Canary Holding 5d2e Limited',
  cp_short_name: 'Canary-9a10',
  legal_entity: 'Wilhelmina Canary 4c77',
  id_type: 'canary-passport-1b0d',
  id_number: 'CNRY-ID-88213377',
  tax_id: 'CNRY-TAX-55120934',
  registered_address: '77 Canary Wharf 3e9f, Nowhere',
  corporate_account: 'CNRY ACCT 0042 1337 9001',
  opening_bank: 'Canary Bank 6f21, Harbour branch',
};

/** Key bytes from a name, so that two processes of a test agree. */
export const keyBytes = (name: string): Uint8Array => createHash('sha256').update(name).digest();
/** As ENCRYPTION_KEYS has it. */
export const keysText = (...ids: string[]): string =>
  ids.map((id) => `${id}:${Buffer.from(keyBytes(id)).toString('base64')}`).join(',');

const provider = (id: string): KeyProvider => localKey(id, keyBytes(id));

/** A ring of local keys; `home` is the installation's own. */
export const ringOf = (ids: readonly string[], home?: string): KeyRing => {
  const own = home === undefined ? [] : [provider(home)];
  return {
    records: [...ids.map(provider), ...own],
    tokens: ids.length > 0 ? ids.slice(0, 1).map(provider) : own,
  };
};

/** Stores the answer of one pull, as one attempt of the job does. */
export const storeOnce = async (sql: Database, keys: KeyRing, pull: KycPull, record: KycRecord | null) =>
  storeKycRecord(sql, { keys, fingerprintKey: await openFingerprintKey(sql, keys) }, pull, record);

/** Stores an answer to a pull that begins now, as the job does: it retries conflicts. */
export const store = async (
  sql: Database,
  keys: KeyRing,
  application_id: string,
  record: KycRecord | null,
) => {
  for (let attempt = 1; ; attempt += 1) {
    const state = await findKycState(sql, application_id);
    if (state === undefined) throw new Error(`add the application ${application_id} first`);
    // Pulls of one application are never in one millisecond, as two calls of a test are.
    if (state.pulled_at !== null && state.pulled_at >= state.now) {
      attempt -= 1;
      continue;
    }
    try {
      return await storeOnce(sql, keys, { application_id, pulled_at: state.now }, record);
    } catch (error) {
      if (!(error instanceof KycConflictError) || attempt === queryCpKyc.options.attempts) throw error;
    }
  }
};

/** Every sealed record, the former ones included. */
export const allRecords = async (sql: Database): Promise<KycRecordRow[]> => [
  ...(await sql<KycRecordRow[]>`select * from kyc_records`),
  ...(await sql<KycRecordRow[]>`select * from kyc_former_records`),
];

/** The code of the KeyError that something ends with, and its message for a look at what it says. */
export const keyErrorOf = async (work: () => unknown): Promise<{ code: string; message: string }> => {
  try {
    await work();
  } catch (error) {
    if (isKeyError(error)) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('this was to end with a KeyError');
};

/** A directory that goes with its test. */
export const aHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-kyc-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
};
