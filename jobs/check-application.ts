import { findCheck, finishCheck } from '#db/queries/application-checks.ts';
import { findApplication } from '#db/queries/applications.ts';
import { checkApplication } from '#src/check/check-application.ts';
import { coerceError, safeMessage } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { checkApplication as spec } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

/** Runs `app check` for a page, which has no keys, and stores the report. */
export const checkApplicationJob = defineJob(spec, async ({ check_id }, context: JobContext) => {
  const { sql, egress, openTarget } = context.deps;
  const check = await findCheck(sql, check_id);
  if (check === undefined || check.finished_at !== null) return { skipped: 'no such open check' };
  const application = await findApplication(sql, check.application_id);
  if (application === undefined) {
    await finishCheck(sql, check, { error: 'The application was removed.' });
    return { skipped: 'no such application' };
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    const target = {
      ...(await openTarget(application)),
      every_ms: application.every_ms,
      concurrency: application.concurrency,
    };
    const cases = await checkApplication(target, egress, { signal: context.signal });
    for (const { outcome } of cases) counts[outcome] += 1;
    await finishCheck(sql, check, { ...counts, cases });
  } catch (error) {
    if (!context.signal.aborted) await finishCheck(sql, check, { error: safeMessage(coerceError(error)) });
    throw error;
  }
  return counts;
});
