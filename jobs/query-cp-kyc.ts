import { findApplication } from '#db/queries/applications.ts';
import { findKycState, forgetKycRequest } from '#db/queries/kyc.ts';
import { isCallError } from '#src/egress/errors.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { failureReasons } from '#src/ingest/explain-failures.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openFingerprintKey } from '#src/kyc/fingerprints.ts';
import { type KycPull, recordKycFailure, storeKycRecord } from '#src/kyc/store-record.ts';
import { defineJob } from '#src/queue/job.ts';
import { isKeyError } from '#src/sealing/errors.ts';

/**
 * Pulls the KYC record of one application (cp.queryKYC, section 4.3): fetch, validate, seal, store. The request of the pull
 * is deleted in the transaction that writes the result. A request that came after the pull began stays for the next job
 * (src/ingest/urgent-jobs.ts).
 */
export const queryCpKycJob = defineJob(queryCpKyc, async ({ application_id }, context: JobContext) => {
  const { deps, signal, log, postpone } = context;
  const [application, stored] = await Promise.all([
    findApplication(deps.sql, application_id),
    findKycState(deps.sql, application_id),
  ]);
  if (application === undefined || stored === undefined) return { skipped: 'no such application' };
  const pull = { application_id, pulled_at: stored.now, called: application };
  if (stored.state === 'erased') {
    // It is pulled again only after `kyc pull`.
    await forgetKycRequest(deps.sql, pull);
    return { skipped: 'erased' };
  }
  try {
    // Opened before the call, because a record that cannot be sealed is not requested.
    const fingerprintKey = await openFingerprintKey(deps.sql, deps.keys);
    const record = await deps.webhooks.queryCpKyc(await deps.openTarget(application), signal);
    const state = await storeKycRecord(deps.sql, { keys: deps.keys, fingerprintKey }, pull, record);
    if (state === 'overtaken') await forgetKycRequest(deps.sql, pull);
    log.info({ application_id, state }, 'kyc pulled');
    return { state };
  } catch (thrown) {
    const error = coerceError(thrown);
    const later = isCallError(error) ? postpone(error.retryAfterMs) : undefined;
    if (later !== undefined) throw later;
    throw signal.aborted ? error : await recordFinalFailure(error, pull, context);
  }
});

/** Records a failure that is not retried. @returns the error that the job throws */
const recordFinalFailure = async (error: Error, pull: KycPull, context: JobContext): Promise<Error> => {
  const isKnown = isCallError(error) || isKeyError(error);
  const isRetryable = !isKnown || error.retryable;
  if (isRetryable && !context.lastAttempt) return error;
  const kind = isKnown ? error.code : 'internal';
  // A webhook error of this operation has no `ret_msg`, which may quote values.
  const code = isKeyError(error) ? error.code : safeMessage(error);
  const reasons = isCallError(error) ? failureReasons(error) : [{ path: '', code }];
  // If this write fails as well, the job reports the first error.
  await recordKycFailure(context.deps.sql, pull, { kind, reasons }).catch(() => {});
  return isRetryable ? error : new PermanentError(safeMessage(error));
};
