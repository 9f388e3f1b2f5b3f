import { readClock } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { schedulerId } from '#src/ingest/schedules.ts';
import { tick } from '#src/ingest/specs.ts';
import { enqueueKycPull, startRun } from '#src/ingest/steps.ts';
import { defineJob } from '#src/queue/job.ts';
import { isDue } from '#src/rules/backoff.ts';

/**
 * A schedule's tick: opens a run or adds a KYC job. The work is an ordinary job, because BullMQ never fails a job of a
 * scheduler for stalling, chooses its id and does not deduplicate it. A tick that fails is retried: an application has
 * one open run and one waiting KYC job, however often its tick runs.
 */
export const tickJob = defineJob(tick, async ({ application_id, schedule }, { deps }: JobContext) => {
  const application = await findApplication(deps.sql, application_id);
  // The reconciler reads the applications: it does not know a scheduler without one.
  if (application === undefined)
    await deps.producer.queue(tick).removeJobScheduler(schedulerId(schedule, application_id));
  if (application?.status !== 'active') return { skipped: 'not active' };
  if (schedule === 'kyc') {
    await enqueueKycPull(deps.producer, application_id);
    return { added: 'kyc' };
  }
  const { next_attempt_at, every_ms } = application;
  const now = (await readClock(deps.sql))();
  if (!isDue(next_attempt_at, every_ms, now.getTime()))
    return { skipped: 'backing off after failures', next_attempt_at: next_attempt_at?.toISOString() };
  const options = { full: false, accept_withdrawals: false };
  const { run, opened } = await startRun(deps, { application_id, trigger: 'schedule', ...options });
  return opened ? { run_id: run.run_id } : { skipped: 'a run is open', run_id: run.run_id };
});
