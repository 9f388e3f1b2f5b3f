import type { Database } from '#db/client.ts';
import {
  findKycOverview,
  findKycRecord,
  insertKycAccess,
  type KycOverview,
  type KycRecordRow,
} from '#db/queries/kyc.ts';
import { type Actor, requireActor, requireRegistered } from '#src/kyc/guards.ts';
import { maskRecord } from '#src/kyc/mask.ts';
import { type KycFields, openKycRecord } from '#src/kyc/record.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** An application's KYC as an operator reads it. `record` is null when none is stored. */
export type KycView = KycOverview & { record: KycFields | null };

const readKyc = async (
  sql: Database,
  application_id: string,
  openRecord: (row: KycRecordRow) => Promise<KycFields>,
): Promise<KycView> => {
  const overview = requireRegistered(await findKycOverview(sql, application_id), application_id);
  const row = await findKycRecord(sql, application_id);
  return { ...overview, record: row === undefined ? null : await openRecord(row) };
};

/** Read an application's KYC, its record masked. @throws KeyError when the record does not open */
export const showKyc = (sql: Database, keys: KeyRing, application_id: string): Promise<KycView> =>
  readKyc(sql, application_id, async (row) => maskRecord(await openKycRecord(keys, row)));

/**
 * Read an application's KYC, its record in clear. The access log is written before the record is opened: if that
 * fails, nothing is shown (design, section 7).
 * @throws UsageError without a name or a reason, KeyError when the record does not open
 */
export const revealKyc = async (
  sql: Database,
  keys: KeyRing,
  application_id: string,
  actor: Actor,
): Promise<KycView> => {
  const { by, reason } = requireActor(actor);
  return readKyc(sql, application_id, async (row) => {
    const { record_id } = row;
    await insertKycAccess(sql, { application_id, record_id, action: 'reveal', accessed_by: by, reason });
    return openKycRecord(keys, row);
  });
};
