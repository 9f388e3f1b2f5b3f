import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { deleteKycRecords, findKycState, lockKycState, saveKycState } from '#db/queries/kyc.ts';
import {
  deleteOldFormerRecords,
  listRemovedWithRecords,
  lockRemovedApplication,
} from '#db/queries/kyc-retention.ts';

/** How long records are kept, in milliseconds. */
export type KycRetention = {
  /** A former version, after it was replaced (KYC_KEEP_FORMER). */
  formerMs: number;
  /** Every version of a removed application, after its removal (KYC_KEEP_REMOVED). */
  removedMs: number;
};

const SYSTEM: Actor = { actor: 'prune', actor_kind: 'system' };

/**
 * Deletes former versions that are too old, at most `limit`, each application with its entry in the audit log.
 * @returns how many
 */
export const expireFormerRecords = (
  sql: Database,
  { formerMs }: KycRetention,
  limit: number,
): Promise<number> =>
  sql.begin(async (tx) => {
    const deleted = await deleteOldFormerRecords(tx, formerMs, limit);
    await recordAudit(
      tx,
      deleted.map(({ application_id, versions }) => ({
        ...SYSTEM,
        action: 'kyc.expire' as const,
        subject: `application:${application_id}`,
        reason: 'KYC_KEEP_FORMER',
        details: { versions },
      })),
    );
    return deleted.reduce((sum, { versions }) => sum + versions, 0);
  });

/**
 * Deletes every version of removed applications, at most `limit` of them, each with its entry in the audit log. Their
 * state is then `erased`: an application of the same id is pulled only after an operator allows it.
 * @returns the number of applications
 */
export const expireRemovedRecords = async (
  sql: Database,
  { removedMs }: KycRetention,
  limit: number,
): Promise<number> => {
  const ids = await listRemovedWithRecords(sql, removedMs, limit);
  let expired = 0;
  for (const application_id of ids) {
    await sql.begin(async (tx) => {
      // It may have been registered again since the list was read. A pull takes the two locks in the same order.
      if (!(await lockRemovedApplication(tx, application_id, removedMs))) return;
      const state = await findKycState(tx, application_id);
      await lockKycState(tx, application_id);
      const versions = await deleteKycRecords(tx, application_id);
      await saveKycState(tx, application_id, {
        state: 'erased',
        asked_at: state?.now ?? null,
        refused_cp_id: null,
      });
      const entry = { ...SYSTEM, action: 'kyc.expire', subject: `application:${application_id}` } as const;
      await recordAudit(tx, [{ ...entry, reason: 'KYC_KEEP_REMOVED', details: { versions } }]);
      expired += 1;
    });
  }
  return expired;
};
