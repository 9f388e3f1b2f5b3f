import { findRunStep } from '#db/queries/run-steps.ts';
import { CatalogueError, PermanentError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainFailedCalls, longestRetryAfter } from '#src/ingest/explain-failures.ts';
import { emptyBatch, fetchDetails } from '#src/ingest/fetch-details.ts';
import { failRun } from '#src/ingest/finish-run.ts';
import { queryGameDetail } from '#src/ingest/specs.ts';
import { STALE_FENCE } from '#src/ingest/steps.ts';
import { finalFailures, writeBatches, writePageDetails } from '#src/ingest/write-details.ts';
import { defineJob, RetryAfter } from '#src/queue/job.ts';
import { mayRunWait } from '#src/rules/waiting.ts';

/**
 * An application is down when every detail call of a page fails in transport, if the page wants at least this many:
 * one or two games that always fail must not end every run at their page.
 */
const DOWN_MIN = 3;

/** The details of one page of one run (application-side game.queryDetail, section 4.5): called, checked, written. */
export const queryGameDetailJob = defineJob(
  queryGameDetail,
  async ({ application_id, run_id, fence: number, page_num }, context: JobContext) => {
    const { deps, signal, lastAttempt, log, mayPostpone } = context;
    const { sql } = deps;
    const fence = { run_id, fence: number };
    const step = await findRunStep(sql, fence, page_num);
    if (step?.page === undefined) return STALE_FENCE;
    const { run, application, page, clock } = step;
    const wanted = Object.entries(page.open_games);
    if (wanted.length === 0) return { skipped: 'written before' };

    const target = await deps.openTarget(application);
    const pace = { concurrency: application.concurrency, rate: application.rate, signal };
    const batches = fetchDetails(deps.webhooks, target, wanted, pace, clock);
    const results = await writeBatches(wanted, batches, (batch) =>
      writePageDetails(sql, fence, page_num, batch),
    );
    if (results === undefined) return STALE_FENCE;
    const { counts, failures, answered } = results;
    let open = results.open.length;

    const waitMs = longestRetryAfter(failures);
    const mayWait =
      waitMs !== undefined && mayPostpone(waitMs) && mayRunWait(run.progress_at, clock(), waitMs);
    if (open > 0 && lastAttempt && !mayWait && !signal.aborted) {
      const written = await writePageDetails(sql, fence, page_num, emptyBatch(), finalFailures(results));
      if (written === undefined) return STALE_FENCE;
      counts.failed = written.failed;
      open = 0;
    }
    log.info({ run_id, application_id, page_num, ...counts, open }, 'details written');
    signal.throwIfAborted();

    if (mayWait && open > 0) throw new RetryAfter(waitMs);
    const isDown =
      page.answered + answered === 0 &&
      failures.length > 0 &&
      failures.every(({ error }) => error.transport) &&
      wanted.length >= DOWN_MIN;
    if (isDown && (lastAttempt || failures.every(({ error }) => !error.retryable))) {
      const reason = `no detail call of page ${page_num} was answered (${explainFailedCalls(failures)})`;
      await failRun(sql, fence, reason, 'application');
      throw new PermanentError(reason);
    }
    if (open > 0) {
      throw new CatalogueError(
        `${open} of ${wanted.length} details will be retried (${explainFailedCalls(failures)})`,
      );
    }
    return counts;
  },
);
