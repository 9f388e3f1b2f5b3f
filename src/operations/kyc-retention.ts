/** Deletes KYC records whose retention has ended. The job `prune` runs both operations. */
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { deleteKycRecords, findKycState, lockKycState, saveKycState } from '#db/queries/kyc.ts';
import {
  deleteOldFormerRecords,
  listRemovedWithRecords,
  lockRemovedApplication,
} from '#db/queries/kyc-retention.ts';
import { runEach } from '#src/lib/run-each.ts';
import { applicationSubject, oneApplication } from '#src/operations/applications.ts';
import { operateAsSystem } from '#src/operations/operate.ts';
import { defineOperation } from '#src/operations/operation.ts';

export const expireFormerRecords = defineOperation({
  name: 'kyc.expire',
  title: 'Delete versions of KYC records that were replaced long ago',
  right: 'system',
  /** `keep_ms`: KYC_KEEP_FORMER. */
  input: z.object({ keep_ms: z.int(), limit: z.int() }),
  subject: () => 'application:*',
  run: (tx, { keep_ms, limit }) => deleteOldFormerRecords(tx, keep_ms, limit),
  log: (deleted) =>
    deleted.map(({ application_id, versions }) => ({
      subject: applicationSubject({ application_id }),
      reason: 'KYC_KEEP_FORMER',
      details: { versions },
    })),
  /** Returns the number of deleted versions. */
  after: async (deleted) => deleted.reduce((sum, { versions }) => sum + versions, 0),
});

/** Sets the state to `erased`, so an application of the same id is pulled only after an operator allows it. */
export const expireRemovedRecord = defineOperation({
  name: 'kyc.expire_removed',
  title: 'Delete every version of the KYC record of an application that was removed long ago',
  right: 'system',
  /** `keep_ms`: KYC_KEEP_REMOVED. */
  input: oneApplication.extend({ keep_ms: z.int() }),
  subject: applicationSubject,
  run: async (tx, { application_id, keep_ms }) => {
    // The application may have been registered again meanwhile. A pull takes the two locks in the same order.
    if (!(await lockRemovedApplication(tx, application_id, keep_ms))) return undefined;
    const state = await findKycState(tx, application_id);
    await lockKycState(tx, application_id);
    const versions = await deleteKycRecords(tx, application_id);
    const pulled_at = state?.now ?? null;
    await saveKycState(tx, application_id, { state: 'erased', pulled_at, refused_cp_id: null });
    return { versions };
  },
  log: (deleted) => (deleted === undefined ? [] : { reason: 'KYC_KEEP_REMOVED', details: deleted }),
});

/**
 * Expires the records of removed applications, each in a transaction of its own, so that a failure stops no other.
 * @returns the number of applications whose record was deleted
 * @throws the first error, after the last application
 */
export const expireRemovedRecords = async (
  sql: Database,
  keep_ms: number,
  signal: AbortSignal,
): Promise<number> => {
  const steps = (await listRemovedWithRecords(sql, keep_ms)).map(
    (application_id) => () => operateAsSystem(expireRemovedRecord, { application_id, keep_ms }, 'prune', sql),
  );
  return (await runEach(steps, signal)).filter((deleted) => deleted !== undefined).length;
};
