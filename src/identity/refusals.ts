/** Refusals in the audit log. Entries are never deleted, so the number that one caller can cause is bounded. */
import type { Queryable } from '#db/client.ts';
import { type AuditEntry, operatorActor, recordAudit } from '#db/queries/audit.ts';
import { countRefusal } from '#db/queries/sign-in.ts';

/** Entries of one login and action within the window. Beyond them, only each doubling (60, 120, …) adds one, with the number. */
const REFUSALS_MAX = 30;
/** Entries of all unknown callers together within the window. */
export const UNKNOWN_REFUSALS_MAX = 1_000;

/** May one more refusal of an unknown caller be logged? One person with many addresses must not fill the log. */
export const mayRecordUnknown = async (sql: Queryable): Promise<boolean> =>
  (await countRefusal(sql, 'unknown')) <= UNKNOWN_REFUSALS_MAX;

/** Writes a refusal of a known caller to the audit log; beyond `REFUSALS_MAX`, only each doubling of their number. */
export const recordKnownRefusal = async (sql: Queryable, entry: AuditEntry): Promise<void> => {
  const refusals = await countRefusal(sql, `${entry.action} ${entry.actor_kind} ${entry.actor}`);
  if (refusals > REFUSALS_MAX && !Number.isInteger(Math.log2(refusals / REFUSALS_MAX))) return;
  const details = { ...entry.details, ...(refusals > REFUSALS_MAX && { refusals }) };
  await recordAudit(sql, [{ ...entry, details }]);
};

/**
 * Writes a refused sign-in to the audit log.
 * @param login null if it is unknown, because a typed login may be a password, and is then not logged
 */
export const recordRefusedSignIn = async (
  sql: Queryable,
  login: string | null,
  reason: string,
  address: string,
): Promise<void> => {
  const actor = operatorActor(login ?? 'unknown');
  const subject = `operator:${actor.actor}`;
  const entry = { ...actor, action: 'session.refuse', subject, reason, details: { address } } as const;
  if (login !== null) return recordKnownRefusal(sql, entry);
  if (await mayRecordUnknown(sql)) await recordAudit(sql, [entry]);
};
