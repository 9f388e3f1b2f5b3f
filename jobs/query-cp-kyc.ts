import { z } from 'zod';
import { findApplication } from '#db/queries/applications.ts';
import { clearFailures, recordFailures } from '#db/queries/failures.ts';
import { coerceError } from '#src/errors.ts';
import { defineJob } from '#src/queue/define-job.ts';
import { isWebhookError } from '#src/webhooks/errors.ts';

/** A developer's record belongs to no game. */
const NO_GAME = '';

/** One application's developer KYC record (cp.queryKYC, section 4.3): called and validated. */
export const queryCpKyc = defineJob({
  name: 'query-cp-kyc',
  payload: z.object({ application_id: z.string() }),
  options: { attempts: 4, backoffMs: 5_000, concurrency: 10 },
  title: ({ application_id }) => `${application_id} kyc`,
  handler: async ({ application_id }, { deps, signal, lastAttempt, postpone }) => {
    const application = await findApplication(deps.sql, application_id);
    if (application === undefined) return { skipped: 'no such application' };
    try {
      const record = await deps.webhooks.queryCpKyc(await deps.openTarget(application), signal);
      await clearFailures(deps.sql, application_id, 'query_cp_kyc', [NO_GAME]);
      return { state: record === null ? 'not_provided' : 'valid' };
    } catch (thrown) {
      const error = coerceError(thrown);
      if (!isWebhookError(error) || error.code === 'aborted') throw error;
      if (error.retryAfterMs !== undefined) return postpone(error.retryAfterMs);
      if (lastAttempt || !error.retryable) {
        const reasons = error.reasons.length > 0 ? error.reasons : [{ path: '', code: error.code }];
        await recordFailures(deps.sql, application_id, 'query_cp_kyc', [
          { application_game_id: NO_GAME, kind: error.code, reasons },
        ]);
      }
      throw error;
    }
  },
});
