import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { CANCELLED } from '#src/contract/words.ts';
import { PermanentError } from '#src/errors.ts';
import { abandonRun } from '#src/ingest/finish-run.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import { stepId } from '#src/ingest/steps.ts';
import type { AnySpec } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';

/**
 * End an open run as abandoned, then remove its jobs from the queue. An active job finds the fence stale at its next
 * write and writes nothing. The audit log has who cancelled it; the reason of a run is for the application's developer
 * too.
 * @returns the run as it ended; `cancelled` is false if it had ended before
 * @throws PermanentError when there is no such run
 */
export const cancelRun = async (
  { sql, producer }: { sql: Database; producer: Producer },
  actor: Actor,
  run_id: string,
): Promise<{ run: RunRow; cancelled: boolean }> => {
  for (;;) {
    const run = await findRun(sql, run_id);
    if (run === undefined) throw new PermanentError(`There is no run ${run_id}.`);
    if (run.finished_at !== null) return { run, cancelled: false };
    const entry = { ...actor, action: 'run.cancel', subject: `run:${run_id}` } as const;
    const closed = await abandonRun(sql, run, CANCELLED, (tx) => recordAudit(tx, [entry]));
    if (closed === undefined) continue; // The fence was raised meanwhile, or the run ended.
    await removeJob(producer, queryGameDetail, stepId(run, run.next_page - 1));
    await removeJob(producer, queryGameList, stepId(run, run.next_page));
    return { run: closed, cancelled: true };
  }
};

/** Remove a job unless a worker runs it. */
const removeJob = async (producer: Producer, spec: AnySpec, id: string): Promise<void> => {
  const job = await producer.queue(spec).getJob(id);
  if (job === undefined || (await job.isActive())) return;
  // BullMQ refuses to remove a job that a worker has just taken: that one ends at its fence.
  await job.remove().catch(() => {});
};
