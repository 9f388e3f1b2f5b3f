/** The open run of an application that changes. */
import { randomUUIDv7 } from 'node:crypto';
import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { closeRun, findOpenRun, type RunFence, type RunRow } from '#db/queries/runs.ts';
import { TransactionRestart } from '#db/transact.ts';
import { openRun } from '#src/ingest/steps.ts';

/**
 * Closes the run of an application. The caller has locked the run, and then the application. Results of calls in flight are
 * not stored.
 * @returns the run
 * @throws TransactionRestart if another run opened between the two locks
 */
export const closeOpenRun = async (
  tx: Queryable,
  application_id: string,
  open: RunFence | undefined,
  reason: string,
): Promise<RunRow | undefined> => {
  const closed = open && (await closeRun(tx, open, { outcome: 'abandoned', reason }));
  if ((await findOpenRun(tx, application_id)) !== undefined) throw new TransactionRestart();
  return closed;
};

/**
 * Ends the open run of an application whose addresses change, and opens one like it if its schedule is active; a worker
 * adds the job. It accepts no withdrawals, because those of the former server were accepted.
 */
export const moveRun = async (
  tx: Queryable,
  { application_id, status }: ApplicationRow,
  open: RunFence | undefined,
) => {
  const reason = 'the addresses of the application were changed';
  const closed = await closeOpenRun(tx, application_id, open, reason);
  if (closed === undefined || status !== 'active') return;
  const { trigger, full } = closed;
  await openRun(tx, { run_id: randomUUIDv7(), application_id, trigger, full, accept_withdrawals: false });
};
