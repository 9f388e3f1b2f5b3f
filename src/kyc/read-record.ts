import type { Database, Queryable } from '#db/client.ts';
import {
  type ContentProviderRow,
  countFormerRecords,
  findContentProvider,
  findKycRecord,
  insertKycAccess,
  type KycRecordRow,
  type KycStateRow,
  listSameTaxId,
} from '#db/queries/kyc.ts';
import { type Accountable, requireAccountable, requireKycState } from '#src/kyc/accountable.ts';
import { maskRecord } from '#src/kyc/mask.ts';
import { type KycFields, openKycRecord } from '#src/kyc/record.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** An application's KYC as people read it. `record` is null where there is none. */
export type KycView = {
  application_id: string;
  state: KycStateRow['state'];
  reason: string | null;
  asked_at: Date | null;
  cp_id: string | null;
  application_cp_id: string | null;
  /** The `cp_id` that waits to be accepted. */
  refused_cp_id: string | null;
  received_at: Date | null;
  former_versions: number;
  /** Other applications with the same tax id. */
  same_tax_id: string[];
  record: KycFields | null;
};

const viewOf = async (
  sql: Queryable,
  state: KycStateRow,
  row: KycRecordRow | undefined,
  record: KycFields | null,
): Promise<KycView> => {
  const provider: ContentProviderRow | undefined = await findContentProvider(sql, state.application_id);
  return {
    application_id: state.application_id,
    state: state.state,
    reason: state.reason,
    asked_at: state.asked_at,
    cp_id: provider?.cp_id ?? null,
    application_cp_id: provider?.application_cp_id ?? null,
    refused_cp_id: state.refused_cp_id,
    received_at: row?.received_at ?? null,
    former_versions: await countFormerRecords(sql, state.application_id),
    same_tax_id: row === undefined ? [] : await listSameTaxId(sql, row),
    record,
  };
};

/** An application's KYC, its record masked. @throws KeyError when the record does not open */
export const showKyc = async (sql: Database, keys: KeyRing, application_id: string): Promise<KycView> => {
  const state = await requireKycState(sql, application_id);
  const row = await findKycRecord(sql, application_id);
  return viewOf(sql, state, row, row === undefined ? null : maskRecord(await openKycRecord(keys, row)));
};

/**
 * An application's KYC, its record in clear. Who and why is in the log before anything is opened: if the log
 * can't be written, nothing is shown (design, section 7).
 * @throws UsageError without a name or a reason, KeyError when the record does not open
 */
export const revealKyc = async (
  sql: Database,
  keys: KeyRing,
  application_id: string,
  accountable: Accountable,
): Promise<KycView> => {
  const { by, reason } = requireAccountable(accountable);
  const state = await requireKycState(sql, application_id);
  const row = await findKycRecord(sql, application_id);
  if (row === undefined) return viewOf(sql, state, row, null);
  await insertKycAccess(sql, {
    application_id,
    record_id: row.record_id,
    action: 'reveal',
    accessed_by: by,
    reason,
  });
  return viewOf(sql, state, row, await openKycRecord(keys, row));
};
