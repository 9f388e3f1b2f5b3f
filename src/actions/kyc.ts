/** What operators do to KYC records, with their entries in the audit log. */
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { reopenErased } from '#db/queries/kyc.ts';

/** Lets an erased record be pulled again. @returns whether it was erased */
export const allowErasedRecord = (
  sql: Database,
  actor: Actor,
  application_id: string,
  reason: string,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    if (!(await reopenErased(tx, application_id))) return false;
    await recordAudit(tx, [
      { ...actor, action: 'kyc.pull', subject: `application:${application_id}`, reason },
    ]);
    return true;
  }) as Promise<boolean>;
