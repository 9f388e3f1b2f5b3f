import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import { readClock } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { openRun } from '#db/queries/runs.ts';
import { queryCpKyc } from '#jobs/query-cp-kyc.ts';
import { enqueueNextStep } from '#jobs/query-game-list.ts';
import { SCHEDULES } from '#src/contract/words.ts';
import { defineJob } from '#src/queue/define-job.ts';
import { isDue } from '#src/rules/backoff.ts';

/**
 * A schedule's moment: opens a run or adds a KYC job, and no more. Jobs made by a scheduler are never failed
 * for stalling, carry no id of ours and bypass deduplication, so the work itself is an ordinary job.
 */
export const tick = defineJob({
  name: 'tick',
  payload: z.object({ application_id: z.string(), schedule: z.enum(SCHEDULES) }),
  // A tick is not tried again: the next one comes.
  options: { attempts: 1, backoffMs: 0, concurrency: 20 },
  title: ({ application_id, schedule }) => `${application_id} ${schedule}`,
  handler: async ({ application_id, schedule }, { deps }) => {
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
  },
});
