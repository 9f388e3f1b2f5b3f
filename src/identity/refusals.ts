/** Refusals in the audit log. Its entries are never deleted, so one caller writes few of them. */
import type { Queryable } from '#db/client.ts';
import { type AuditEntry, operatorActor, recordAudit } from '#db/queries/audit.ts';
import { countRefusal } from '#db/queries/sign-in.ts';

/** Entries of one login and action within the window. After them each doubling of the number is an entry, which has the number. */
export const REFUSALS_MAX = 30;
/** Entries of all unknown callers within the window. */
export const UNKNOWN_REFUSALS_MAX = 1_000;

/** May one more refusal of an unknown caller be written to the audit log? Somebody with many addresses must not fill it. */
export const mayRecordUnknown = async (sql: Queryable): Promise<boolean> =>
  (await countRefusal(sql, 'unknown')) <= UNKNOWN_REFUSALS_MAX;

/** Writes a refusal of a known caller to the audit log, unless there are many: then only their number now and then. */
export const recordRefused = async (sql: Queryable, entry: AuditEntry): Promise<void> => {
  const refusals = await countRefusal(sql, `${entry.action} ${entry.actor_kind} ${entry.actor}`);
  if (refusals > REFUSALS_MAX && !Number.isInteger(Math.log2(refusals / REFUSALS_MAX))) return;
  const details = { ...entry.details, ...(refusals > REFUSALS_MAX && { refusals }) };
  await recordAudit(sql, [{ ...entry, details }]);
};

/**
 * Writes a refused sign-in to the audit log.
 * @param login null if it is unknown: what was typed may be a password, so the log does not have it
 */
export const recordRefusal = async (
  sql: Queryable,
  login: string | null,
  reason: string,
  address: string,
): Promise<void> => {
  const actor = operatorActor(login ?? 'unknown');
  const subject = `operator:${actor.actor}`;
  const entry = { ...actor, action: 'session.refuse', subject, reason, details: { address } } as const;
  if (login !== null) return recordRefused(sql, entry);
  if (await mayRecordUnknown(sql)) await recordAudit(sql, [entry]);
};
