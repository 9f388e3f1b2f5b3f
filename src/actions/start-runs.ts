/** Starts runs for operators, each with an entry in the audit log. */
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { startRun } from '#src/ingest/steps.ts';
import type { Producer } from '#src/queue/producer.ts';

/**
 * Opens a run of an application and adds its first step. If the application has an open run, nothing is changed and
 * nothing is written to the audit log.
 * @returns the open run, and whether this call opened it
 */
export const startManualRun = (
  foundation: { sql: Database; producer: Producer },
  actor: Actor,
  application_id: string,
  options: { full: boolean; accept_withdrawals: boolean },
): Promise<{ run: RunRow; opened: boolean }> => {
  const action = options.accept_withdrawals ? 'run.accept_withdrawals' : 'run.start';
  const subject = `application:${application_id}`;
  return startRun(foundation, { application_id, trigger: 'manual', ...options }, (tx, { run_id }) =>
    recordAudit(tx, [{ ...actor, action, subject, details: { run_id, ...options } }]),
  );
};
