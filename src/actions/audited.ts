import type { Database, Queryable } from '#db/client.ts';
import { type Actor, type AuditEntry, recordAudit } from '#db/queries/audit.ts';

/** Makes a change in one transaction; its entry is written if the change is made. @returns whether it was made */
export const changeAudited = (
  sql: Database,
  actor: Actor,
  entry: Omit<AuditEntry, keyof Actor>,
  change: (tx: Queryable) => Promise<boolean>,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    const isMade = await change(tx);
    if (isMade) await recordAudit(tx, [{ ...actor, ...entry }]);
    return isMade;
  });
