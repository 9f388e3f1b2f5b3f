/** Starts runs for operators, each with an entry in the audit log. */
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { FOUR_EYES_BY_DEFAULT, type FourEyes } from '#src/contract/approvals.ts';
import { startRun } from '#src/ingest/steps.ts';
import { requireOneEnough } from '#src/operations/second-person.ts';
import type { Producer } from '#src/queue/producer.ts';

/**
 * Opens a run of an application and adds its first step. If the application has an open run, nothing is changed and
 * nothing is written to the audit log.
 * @throws ApprovalError if it takes two persons to accept withdrawals
 * @returns the open run, and whether this call opened it
 */
export const startManualRun = (
  foundation: { sql: Database; producer: Producer },
  actor: Actor,
  application_id: string,
  options: { full: boolean; accept_withdrawals: boolean },
  fourEyes: FourEyes = FOUR_EYES_BY_DEFAULT,
): Promise<{ run: RunRow; opened: boolean }> => {
  const action = options.accept_withdrawals ? 'run.accept_withdrawals' : 'run.start';
  const subject = `application:${application_id}`;
  return startRun(foundation, { application_id, trigger: 'manual', ...options }, async (tx, { run_id }) => {
    const alone = options.accept_withdrawals ? await requireOneEnough(tx, fourEyes, 'withdrawals') : {};
    await recordAudit(tx, [{ ...actor, action, subject, details: { run_id, ...options, ...alone } }]);
  });
};
