/**
 * Changes to the queues. The queue may be in Redis, so each entry of the audit log is written before the change: a
 * change that fails is in the log too.
 */
import type { Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import type { AuditAction } from '#src/contract/audit.ts';

const record = (sql: Database, actor: Actor, action: AuditAction, queues: readonly Queue[]): Promise<void> =>
  recordAudit(
    sql,
    queues.map(({ name }) => ({ ...actor, action, subject: `queue:${name}` })),
  );

/** Pauses or resumes these queues. */
export const changeQueues = async (
  sql: Database,
  actor: Actor,
  change: 'pause' | 'resume',
  queues: readonly Queue[],
): Promise<void> => {
  await record(sql, actor, `queue.${change}`, queues);
  for (const queue of queues) await queue[change]();
};

/** Moves failed jobs back to their queue. @returns how many, by queue */
export const retryFailedJobs = async (
  sql: Database,
  actor: Actor,
  queues: readonly Queue[],
): Promise<Record<string, number>> => {
  await record(sql, actor, 'queue.retry_failed', queues);
  const retried: Record<string, number> = {};
  for (const queue of queues) {
    const { failed = 0 } = await queue.getJobCounts('failed');
    await queue.retryJobs({ state: 'failed' });
    retried[queue.name] = failed;
  }
  return retried;
};
