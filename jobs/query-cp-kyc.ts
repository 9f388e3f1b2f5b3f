import { findApplication } from '#db/queries/applications.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openFingerprintKey } from '#src/kyc/fingerprints.ts';
import { recordKycFailure, storeKycAnswer } from '#src/kyc/store-answer.ts';
import { defineJob, type JobResult, RetryAfter } from '#src/queue/job.ts';
import { isKeyError } from '#src/sealing/errors.ts';
import { isWebhookError } from '#src/webhooks/errors.ts';

/** One application's developer KYC record (cp.queryKYC, section 4.3): called, validated, sealed. */
export const queryCpKycJob = defineJob(queryCpKyc, async ({ application_id }, context: JobContext) => {
  const answer = await pullRecord(application_id, context);
  // Erased while we asked, and asked for anew since: that pull found this job under way and left it to us.
  const { sql } = context.deps;
  const again =
    answer.state === 'overtaken' && (await findKycState(sql, application_id))?.state === 'pending';
  return again ? pullRecord(application_id, context) : answer;
});

const pullRecord = async (application_id: string, context: JobContext): Promise<JobResult> => {
  const { deps, signal, log, mayPostpone } = context;
  const [application, before] = await Promise.all([
    findApplication(deps.sql, application_id),
    findKycState(deps.sql, application_id),
  ]);
  if (application === undefined || before === undefined) return { skipped: 'no such application' };
  // What was erased stays erased until an operator asks anew (`kyc pull`).
  if (before.state === 'erased') return { skipped: 'erased' };
  const pull = { application_id, asked_at: before.now };
  try {
    // No key, no KYC (design, section 7): what could not be sealed is not even asked for.
    const fingerprintKey = await openFingerprintKey(deps.sql, deps.keys);
    const record = await deps.webhooks.queryCpKyc(await deps.openTarget(application), signal);
    const state = await storeKycAnswer(deps.sql, { keys: deps.keys, fingerprintKey }, pull, record);
    log.info({ application_id, state }, 'kyc pulled');
    return { state };
  } catch (thrown) {
    const error = coerceError(thrown);
    const waitMs = isWebhookError(error) ? error.retryAfterMs : undefined;
    if (waitMs !== undefined && mayPostpone(waitMs)) throw new RetryAfter(waitMs);
    throw await settleFailure(error, pull, context);
  }
};

/** Note a failure that is final. @returns what the job is to throw */
const settleFailure = async (
  error: Error,
  pull: { application_id: string; asked_at: Date },
  { deps, signal, lastAttempt }: JobContext,
): Promise<Error> => {
  if (signal.aborted) return error;
  const ours = isWebhookError(error) || isKeyError(error);
  const passing = !ours || error.retryable;
  if (passing && !lastAttempt) return error;
  const kind = ours ? error.code : 'internal';
  const reasons =
    isWebhookError(error) && error.reasons.length > 0 ? error.reasons : [{ path: '', code: codeOf(error) }];
  // The database itself may be what failed: the job then fails with the first reason.
  await recordKycFailure(deps.sql, pull, { kind, reasons }).catch(() => {});
  return passing ? error : new PermanentError(safeMessage(error));
};

/** A code and a number; never a `ret_msg`, which may quote values (decision 14). */
const codeOf = (error: Error): string => {
  if (!isWebhookError(error)) return isKeyError(error) ? error.code : safeMessage(error);
  if (error.retCode !== undefined) return `${error.code} ${error.retCode}`;
  return error.status === undefined ? error.code : `${error.code} ${error.status}`;
};
