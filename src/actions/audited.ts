import type { Database, Queryable } from '#db/client.ts';
import { type Actor, type AuditEntry, recordAudit } from '#db/queries/audit.ts';

/** A URL for the details of an entry: without query and fragment, which may contain secrets. */
export const describeUrl = (text: string): string => {
  const url = URL.parse(text);
  return url === null ? '' : `${url.origin}${url.pathname}`;
};

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
