import type { Database } from '#db/client.ts';
import {
  countWrappedByOthers,
  findFingerprintKey,
  listWrappedByOthers,
  replaceWraps,
  WRAPPED_TABLES,
  type WrappedRow,
  type WrappedTable,
} from '#db/queries/wrapped-keys.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { CatalogueError } from '#src/errors.ts';
import { FINGERPRINT_KEY } from '#src/kyc/fingerprints.ts';
import { kycRecord } from '#src/kyc/record.ts';
import { tokenRecord } from '#src/sealing/access-token.ts';
import { isKeyError, KeyError, type KeyErrorCode } from '#src/sealing/errors.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { isHomeKeyId } from '#src/sealing/key-ring.ts';
import type { SealedRecord } from '#src/sealing/sealed-value.ts';

/** Small: a killed pass loses no more, and a key service is not flooded. */
const BATCH = 100;

/** `id` is the row's in its table; `application_id` what commands take, null for the fingerprint key. */
export type ResealFailure = {
  table: WrappedTable;
  id: string;
  application_id: string | null;
  code: KeyErrorCode;
};
export type ResealReport = {
  /** The key that all data keys are under now, but for the failed. */
  key_id: string;
  rewrapped: number;
  /** Data keys that did not open: what they seal stays under its former key. */
  failed: ResealFailure[];
};

const recordOf = (table: WrappedTable, { id, application_id }: WrappedRow): SealedRecord => {
  if (table === 'kyc_keys') return FINGERPRINT_KEY;
  return table === 'applications' ? tokenRecord(id) : kycRecord(application_id, id);
};

/**
 * Wrap one data key anew by the ring's first key. An access token's keeps the wraps by installations' own
 * keys, other machines' too: they are its way out of a mistake with the ring. Without one it gets ours.
 */
const rewrap = async (keys: KeyRing, table: WrappedTable, row: WrappedRow): Promise<WrappedKey[]> => {
  const record = recordOf(table, row);
  const dataKey = await unwrapDataKey(keys.records, row.keys, record);
  if (table !== 'applications') return wrapDataKey(keys.records.slice(0, 1), dataKey, record);
  const first = keys.records[0]?.key_id;
  const kept = row.keys.filter(({ key_id }) => isHomeKeyId(key_id) && key_id !== first);
  return [
    ...(await wrapDataKey(kept.length > 0 ? keys.tokens.slice(0, 1) : keys.tokens, dataKey, record)),
    ...kept,
  ];
};

type Pass = { keys: KeyRing; key_id: string; signal: AbortSignal; onRewrapped: (count: number) => void };

const resealTable = async (sql: Database, table: WrappedTable, pass: Pass): Promise<ResealFailure[]> => {
  const failed: ResealFailure[] = [];
  for (let after: string | null = null; !pass.signal.aborted; ) {
    const rows: WrappedRow[] = await listWrappedByOthers(sql, table, pass.key_id, after, BATCH);
    const changes = await Promise.all(
      rows.map(async (row) => {
        try {
          return [{ id: row.id, before: row.keys, after: await rewrap(pass.keys, table, row) }];
        } catch (error) {
          if (!isKeyError(error) || error.retryable) throw error;
          const application_id = table === 'kyc_keys' ? null : row.application_id;
          failed.push({ table, id: row.id, application_id, code: error.code });
          return [];
        }
      }),
    );
    pass.onRewrapped(await replaceWraps(sql, table, changes.flat()));
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) break;
    after = last.id;
  }
  return failed;
};

/**
 * Wrap every data key that another key wraps by the ring's first key: the fingerprint key (first, so that no
 * process without the new key seals a record behind our back), access tokens, records and former records. The
 * sealed values stay as they are. Killed at any moment it has lost nothing, and run again it goes on. Workers
 * may write meanwhile: passes are made until one finds nothing to do.
 * @param onProgress data keys wrapped so far, and how many there were to wrap at the start
 * @throws KeyError `no_key`; `unknown_key` or `does_not_open` when the keys do not open the fingerprint key, the gate:
 * then nothing was wrapped; `key_service` when the key service is away
 */
export const reseal = async (
  sql: Database,
  keys: KeyRing,
  options: { signal: AbortSignal; onProgress?: (done: number, total: number) => void },
): Promise<ResealReport> => {
  const key_id = keys.records[0]?.key_id;
  if (key_id === undefined)
    throw new KeyError('no_key', 'There is no key to reseal under: set ENCRYPTION_KEYS.');
  const gate = await findFingerprintKey(sql);
  // Keys that are not this catalogue's would take over the tokens, which the installation's own key opens as well.
  if (gate !== undefined) await unwrapDataKey(keys.records, gate, FINGERPRINT_KEY);
  const counts = await Promise.all(WRAPPED_TABLES.map((table) => countWrappedByOthers(sql, table, key_id)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let rewrapped = 0;
  const onRewrapped = (count: number) => {
    rewrapped += count;
    options.onProgress?.(rewrapped, Math.max(total, rewrapped));
  };
  for (;;) {
    const before = rewrapped;
    const failed: ResealFailure[] = [];
    for (const table of WRAPPED_TABLES) {
      failed.push(...(await resealTable(sql, table, { keys, key_id, signal: options.signal, onRewrapped })));
    }
    if (options.signal.aborted)
      throw new CatalogueError('Stopped before the end: run npx catalogue kyc reseal again to go on.');
    if (rewrapped === before) return { key_id, rewrapped, failed };
  }
};
