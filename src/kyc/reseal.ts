import type { Database, Queryable } from '#db/client.ts';
import { findFingerprintKey } from '#db/queries/kyc.ts';
import {
  countWrappedByOthers,
  listWrappedByOthers,
  replaceWraps,
  WRAPPED_TABLES,
  type WrapChange,
  type WrappedRow,
  type WrappedTable,
} from '#db/queries/wrapped-keys.ts';
import type { WrappedKey } from '#db/schema/applications.ts';
import { CatalogueError } from '#src/errors.ts';
import { FINGERPRINT_KEY } from '#src/kyc/fingerprints.ts';
import { kycRecord } from '#src/kyc/record.ts';
import { readPages } from '#src/lib/read-pages.ts';
import { tokenRecord } from '#src/sealing/access-token.ts';
import { isKeyError, KeyError, type KeyErrorCode } from '#src/sealing/errors.ts';
import { withEventBox } from '#src/sealing/event-box.ts';
import { eventSecretRecord } from '#src/sealing/event-secret.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import type { SealedRecord } from '#src/sealing/sealed-value.ts';

/** Rows wrapped at once. A killed pass loses at most one batch, and the key service is not flooded. */
const BATCH = 100;

/** A row whose data key did not open. `application_id` is null if it is of no application. */
export type ResealFailure = {
  table: WrappedTable;
  id: string;
  application_id: string | null;
  code: KeyErrorCode;
};
/** The key that now wraps every data key except the failed ones, which keep their former key. */
export type ResealReport = { key_id: string; rewrapped: number; failed: ResealFailure[] };

/** What a reseal does: `total` data keys are wrapped by other keys than this one. */
export type ResealPlan = {
  key_id: string;
  total: number;
};

type Progress = {
  signal?: AbortSignal | undefined;
  /** Data keys wrapped so far, and their number at the start. */
  onProgress?: ((done: number, total: number) => void) | undefined;
};

const recordOf = (table: WrappedTable, { id, application_id }: WrappedRow): SealedRecord => {
  if (table === 'kyc_keys') return { table, record_id: id };
  if (table === 'event_webhooks') return eventSecretRecord({ application_id: id });
  if (table === 'event_subscriptions') return eventSecretRecord({ subscription_id: id });
  return table === 'applications' ? tokenRecord(id) : kycRecord(application_id, id);
};

/** Wraps the data keys of a row by the ring's first key alone. */
const rewrap = async (keys: KeyRing, table: WrappedTable, row: WrappedRow): Promise<WrapChange> => {
  const record = recordOf(table, row);
  const after: WrappedKey[] = [];
  for (const wrap of row.keys) {
    const dataKey = await unwrapDataKey([...keys.records, ...keys.tokens], [wrap], record);
    after.push(...(await wrapDataKey(keys.records, dataKey, record)));
  }
  return { id: row.id, before: row.keys, after };
};

/**
 * Plans a reseal.
 * @throws KeyError `no_key`, or `key_service` when the key service is down; `unknown_key` or `does_not_open` when the
 * fingerprint key does not open, because the keys are those of another installation
 */
export const planReseal = async (sql: Queryable, keys: KeyRing): Promise<ResealPlan> => {
  const key_id = keys.records[0]?.key_id;
  if (key_id === undefined)
    throw new KeyError('no_key', 'There is no key to reseal with: set ENCRYPTION_KEYS.');
  const fingerprintKey = await findFingerprintKey(sql);
  // Checked because the installation key opens tokens too, so keys of another installation could replace ours.
  if (fingerprintKey !== undefined) await unwrapDataKey(keys.records, fingerprintKey, FINGERPRINT_KEY);
  const counts = await Promise.all(WRAPPED_TABLES.map((table) => countWrappedByOthers(sql, table, key_id)));
  return { key_id, total: counts.reduce((sum, count) => sum + count, 0) };
};

/**
 * Wraps every data key of the installation by the ring's first key; sealed values do not change. The fingerprint key is
 * first. After it, a process without the new key seals nothing. A reseal that is killed loses nothing and can run again.
 * Workers may write during it, so passes repeat until one finds nothing to do.
 */
export const reseal = async (
  sql: Database,
  keys: KeyRing,
  { key_id, total }: ResealPlan,
  { signal, onProgress }: Progress,
): Promise<ResealReport> => {
  const ring = withEventBox(sql, keys);
  for (let rewrapped = 0; ; ) {
    const before = rewrapped;
    const failed: ResealFailure[] = [];
    for (const table of WRAPPED_TABLES) {
      const read = (last?: WrappedRow) =>
        listWrappedByOthers(sql, table, { key_id, after: last?.id ?? null, limit: BATCH });
      for await (const rows of readPages(BATCH, read)) {
        if (signal?.aborted)
          throw new CatalogueError('Stopped before the end. Continue with: npx catalogue kyc reseal');
        rewrapped += await rewrapBatch(sql, ring, table, rows, failed);
        onProgress?.(rewrapped, Math.max(total, rewrapped));
      }
    }
    if (rewrapped === before) return { key_id, rewrapped, failed };
  }
};

/** @param failed receives the rows that do not open @returns the number of rows wrapped */
const rewrapBatch = async (
  sql: Database,
  keys: KeyRing,
  table: WrappedTable,
  rows: readonly WrappedRow[],
  failed: ResealFailure[],
): Promise<number> => {
  const changes = await Promise.all(
    rows.map(async (row) => {
      try {
        return [await rewrap(keys, table, row)];
      } catch (error) {
        if (!isKeyError(error) || error.retryable) throw error;
        const application_id = row.application_id || null;
        failed.push({ table, id: row.id, application_id, code: error.code });
        return [];
      }
    }),
  );
  return replaceWraps(sql, table, changes.flat());
};
