import { findApplication } from '#db/queries/applications.ts';
import { requestKycPull } from '#db/queries/kyc.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { tick } from '#src/ingest/specs.ts';
import { startRun, startUndelayedRun } from '#src/ingest/steps.ts';
import { defineJob } from '#src/queue/job.ts';
import { isDue } from '#src/rules/backoff.ts';
import { schedulerId } from '#src/rules/ticks.ts';

/**
 * A schedule's tick: opens a run or requests a KYC record. The work is an ordinary job, because BullMQ never fails a job of
 * a scheduler for stalling, chooses its id and does not deduplicate it. A tick that fails is retried, because an
 * application has one open run and one request, however often its tick runs.
 */
export const tickJob = defineJob(tick, async ({ application_id, schedule }, context: JobContext) => {
  const { deps, now } = context;
  const scheduled = { application_id, trigger: 'schedule', full: false, accept_withdrawals: false } as const;
  // An active application without failures needs one statement.
  if (schedule === 'kyc') {
    if (await requestKycPull(deps.sql, application_id, 'active')) return { requested: 'kyc' };
  } else {
    const run = await startUndelayedRun(deps, scheduled);
    if (run !== undefined) return { run_id: run.run_id };
  }
  const application = await findApplication(deps.sql, application_id);
  // The reconciler reads the applications, so it does not know a scheduler without one.
  if (application === undefined)
    await deps.producer.queue(tick).removeJobScheduler(schedulerId(schedule, application_id));
  if (application?.status !== 'active' || schedule === 'kyc') return { skipped: 'not active' };
  const { next_attempt_at, every_ms } = application;
  if (!isDue(application, every_ms, now()))
    return { skipped: 'backing off after failures', next_attempt_at: next_attempt_at?.toISOString() };
  const { run, opened } = await startRun(deps, scheduled);
  return opened ? { run_id: run.run_id } : { skipped: 'a run is open', run_id: run.run_id };
});
