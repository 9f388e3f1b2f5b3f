import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { type ReasonRow, retireReason, saveReason } from '#db/queries/reasons.ts';
import { storableText } from '#src/contract/text.ts';
import { UsageError } from '#src/errors.ts';

export const REASON_CODE = /^[a-z][a-z0-9_]{0,39}$/;
const LABEL_MAX = 200;

/**
 * Add a reason, or change the label of one and bring it back.
 * @throws UsageError for a code or a label that is not allowed
 */
export const addReason = async (
  sql: Database,
  reason: Pick<ReasonRow, 'code' | 'label'>,
  actor: Actor,
): Promise<ReasonRow> => {
  const label = storableText(LABEL_MAX).min(1).safeParse(reason.label.trim());
  if (!REASON_CODE.test(reason.code))
    throw new UsageError('A code has lower-case letters, digits and "_", at most 40 characters.');
  if (!label.success) throw new UsageError(`Give a label of 1 to ${LABEL_MAX} characters.`);
  return sql.begin(async (tx) => {
    const row = await saveReason(tx, { code: reason.code, label: label.data });
    const details = { label: row.label };
    await recordAudit(tx, [{ ...actor, action: 'reason.add', subject: `reason:${row.code}`, details }]);
    return row;
  });
};

/**
 * Retire a reason: no new decision names it.
 * @throws UsageError when no reason in use has this code
 */
export const retireReasonCode = (sql: Database, code: string, actor: Actor): Promise<ReasonRow> =>
  sql.begin(async (tx) => {
    const row = await retireReason(tx, code);
    if (row === undefined)
      throw new UsageError(`No reason in use has the code "${code}". List them: npx catalogue reason list`);
    await recordAudit(tx, [{ ...actor, action: 'reason.retire', subject: `reason:${code}` }]);
    return row;
  });
