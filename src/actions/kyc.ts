/** KYC records that operators request. Request and entry of the audit log are one transaction; a worker pulls them. */
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { reopenErased, requestKycPull } from '#db/queries/kyc.ts';
import { changeAudited } from '#src/actions/audited.ts';

const pullEntry = (application_id: string, reason: string | undefined) =>
  ({ action: 'kyc.pull', subject: `application:${application_id}`, reason }) as const;

/** Lets an erased record be pulled again, and requests it. @returns whether it was erased */
export const allowErasedRecord = (
  sql: Database,
  actor: Actor,
  application_id: string,
  reason: string,
): Promise<boolean> =>
  changeAudited(sql, actor, pullEntry(application_id, reason), (tx) => reopenErased(tx, application_id));

/** Requests the record of an application. */
export const pullKycRecord = (
  sql: Database,
  actor: Actor,
  application_id: string,
  reason?: string,
): Promise<void> =>
  sql.begin(async (tx) => {
    await recordAudit(tx, [{ ...actor, ...pullEntry(application_id, reason) }]);
    await requestKycPull(tx, application_id);
  });
