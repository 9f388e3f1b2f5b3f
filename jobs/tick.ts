import { randomUUIDv7 } from 'node:crypto';
import { readClock } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { openRun } from '#db/queries/runs.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { queryCpKyc, tick } from '#src/ingest/specs.ts';
import { enqueueNextStep } from '#src/ingest/steps.ts';
import { defineJob } from '#src/queue/job.ts';
import { isDue } from '#src/rules/backoff.ts';

/**
 * A schedule's moment: opens a run or adds a KYC job, and no more. Jobs made by a scheduler are never failed
 * for stalling, carry no id of ours and bypass deduplication, so the work itself is an ordinary job.
 */
export const tickJob = defineJob(tick, async ({ application_id, schedule }, { deps }: JobContext) => {
  const application = await findApplication(deps.sql, application_id);
  if (application?.status !== 'active') return { skipped: 'not active' };
  if (schedule === 'kyc') {
    await deps.producer.add(queryCpKyc, { application_id }, { once: application_id });
    return { added: 'kyc' };
  }
  const { next_attempt_at, every_ms } = application;
  const now = (await readClock(deps.sql))();
  if (!isDue(next_attempt_at, every_ms, now.getTime())) {
    return { skipped: 'it keeps failing: backing off', next_attempt_at: next_attempt_at?.toISOString() };
  }
  const { run, opened } = await openRun(deps.sql, {
    run_id: randomUUIDv7(),
    application_id,
    trigger: 'schedule',
    full: false,
    accept_withdrawals: false,
  });
  if (!opened) return { skipped: 'a run is open', run_id: run.run_id };
  await enqueueNextStep(deps.producer, run, false);
  return { run_id: run.run_id };
});
