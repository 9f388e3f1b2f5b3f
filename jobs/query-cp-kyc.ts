import { findApplication } from '#db/queries/applications.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { isCallError } from '#src/egress/errors.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { failureReasons } from '#src/ingest/explain-failures.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openFingerprintKey } from '#src/kyc/fingerprints.ts';
import { type KycPull, recordKycFailure, storeKycRecord } from '#src/kyc/store-record.ts';
import { defineJob, type JobResult } from '#src/queue/job.ts';
import { isKeyError } from '#src/sealing/errors.ts';

/** Pull the KYC record of one application (cp.queryKYC, section 4.3): fetch, validate, seal, store. */
export const queryCpKycJob = defineJob(queryCpKyc, async ({ application_id }, context: JobContext) => {
  const result = await pullRecord(application_id, context);
  if (result.state !== 'overtaken') return result;
  // An erasure overtook this pull. If an operator has requested another one since, the queue merged it into this job.
  const stored = await findKycState(context.deps.sql, application_id);
  return stored?.state === 'pending' ? pullRecord(application_id, context) : result;
});

const pullRecord = async (application_id: string, context: JobContext): Promise<JobResult> => {
  const { deps, signal, log, postpone } = context;
  const [application, stored] = await Promise.all([
    findApplication(deps.sql, application_id),
    findKycState(deps.sql, application_id),
  ]);
  if (application === undefined || stored === undefined) return { skipped: 'no such application' };
  // An erased record is pulled again only after `kyc pull`.
  if (stored.state === 'erased') return { skipped: 'erased' };
  const pull = { application_id, asked_at: stored.now, called: application };
  try {
    // No key, no KYC: without its key the process does not call the application.
    const fingerprintKey = await openFingerprintKey(deps.sql, deps.keys);
    const record = await deps.webhooks.queryCpKyc(await deps.openTarget(application), signal);
    const state = await storeKycRecord(deps.sql, { keys: deps.keys, fingerprintKey }, pull, record);
    log.info({ application_id, state }, 'kyc pulled');
    return { state };
  } catch (thrown) {
    const error = coerceError(thrown);
    const later = isCallError(error) ? postpone(error.retryAfterMs) : undefined;
    if (later !== undefined) throw later;
    throw signal.aborted ? error : await recordFinalFailure(error, pull, context);
  }
};

/** Record a failure that is not retried. @returns the error that the job throws */
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
