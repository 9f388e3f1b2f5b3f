import type { Database } from '#db/client.ts';
import { recordAudit } from '#db/queries/audit.ts';
import { findKycRecord, insertKycAccess, lockKycState } from '#db/queries/kyc.ts';
import { type Developer, findDeveloper } from '#db/queries/kyc-list.ts';
import { type ActorWithReason, requireReason, requireRegistered } from '#src/kyc/guards.ts';
import { maskRecord } from '#src/kyc/mask.ts';
import { type KycFields, openKycRecord } from '#src/kyc/record.ts';
import { auditRefusal } from '#src/operations/approvals.ts';
import {
  ApprovalError,
  requireSecondPerson,
  SECOND_PERSON_BY_DEFAULT,
  type SecondPerson,
} from '#src/operations/second-person.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** The KYC of an application as an operator reads it. `record` is null if none is stored. */
export type KycView = Developer & { record: KycFields | null };

const readOverview = async (sql: Database, application_id: string): Promise<Developer> =>
  requireRegistered(await findDeveloper(sql, application_id), application_id);

/** Reads the KYC of an application, with the record masked. @throws KeyError if the record cannot be decrypted */
export const showKyc = async (sql: Database, keys: KeyRing, application_id: string): Promise<KycView> => {
  const overview = await readOverview(sql, application_id);
  const row = await findKycRecord(sql, application_id);
  return { ...overview, record: row === undefined ? null : maskRecord(await openKycRecord(keys, row)) };
};

/**
 * Reads the KYC of an application, with the record in clear. Before the record is decrypted, the approval is marked as
 * used, and the access log and the audit log are written: if one of these fails, nothing is shown.
 * @throws UsageError without a name or a reason, ApprovalError if a second person is required and has not approved,
 * KeyError if the record cannot be decrypted
 */
export const revealKyc = async (
  sql: Database,
  keys: KeyRing,
  application_id: string,
  given: ActorWithReason,
  second: SecondPerson = SECOND_PERSON_BY_DEFAULT,
): Promise<KycView> => {
  const actor = requireReason(given);
  const subject = `application:${application_id}`;
  const { approval_id } = second;
  const overview = await readOverview(sql, application_id);
  const row = await auditRefusal(sql, { ...actor, subject, approval_id }, () =>
    sql.begin(async (tx) => {
      // A writer that replaces the record waits for this lock: the approved version is the version that is shown.
      await lockKycState(tx, application_id);
      const current = await findKycRecord(tx, application_id);
      if (current === undefined) {
        // Nothing will be shown, so nothing is logged.
        if (approval_id !== undefined)
          throw new ApprovalError('The record has been erased since the approval: nothing can be shown.');
        return undefined;
      }
      const { record_id } = current;
      const use = { kind: 'reveal', subject, version: record_id, actor } as const;
      const { entries, details } = await requireSecondPerson(tx, second, use);
      const { actor: accessed_by, reason } = actor;
      await insertKycAccess(tx, { application_id, record_id, action: 'reveal', accessed_by, reason });
      const entry = { ...actor, action: 'kyc.reveal', subject, details: { record_id, ...details } } as const;
      await recordAudit(tx, [...entries, entry]);
      return current;
    }),
  );
  return { ...overview, record: row === undefined ? null : await openKycRecord(keys, row) };
};
