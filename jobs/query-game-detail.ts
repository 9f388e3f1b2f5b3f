import type { Queryable } from '#db/client.ts';
import { findDetailEvidence } from '#db/queries/run-pages.ts';
import { findRunStep } from '#db/queries/run-steps.ts';
import { CatalogueError, PermanentError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainCallError, explainFailedCalls, longestRetryAfter } from '#src/ingest/explain-failures.ts';
import { type FailedCall, fetchDetails, type WantedGame } from '#src/ingest/fetch-details.ts';
import { failOverrun, failRun } from '#src/ingest/finish-run.ts';
import { createJobPace } from '#src/ingest/for-each-paced.ts';
import { noteRequestedDelay } from '#src/ingest/note-requested-delay.ts';
import { queryGameDetail } from '#src/ingest/specs.ts';
import { STALE_FENCE } from '#src/ingest/steps.ts';
import { finalFailures, writeBatches, writePageDetails } from '#src/ingest/write-details.ts';
import { defineJob } from '#src/queue/job.ts';
import { findRunFault, isAnswered, isDetailWebhookDown } from '#src/rules/down.ts';
import { mayRunWait } from '#src/rules/waiting.ts';

/** The details of one page of one run (application-side game.queryDetail, section 4.5): called, checked, written. */
export const queryGameDetailJob = defineJob(
  queryGameDetail,
  async ({ application_id, run_id, fence: number, page_num }, context: JobContext) => {
    const { deps, signal, lastAttempt, log, postpone } = context;
    const { sql } = deps;
    const fence = { run_id, fence: number };
    const step = await findRunStep(sql, fence, page_num);
    if (step?.page === undefined) return STALE_FENCE;
    const { run, application, page, clock } = step;
    const wanted = Object.entries(page.open_games);
    if (wanted.length === 0) return { skipped: 'written before' };
    const overrun = await failOverrun(deps, run, clock());
    if (overrun !== undefined) return { outcome: 'failed', reason: overrun };

    const target = await deps.openTarget(application);
    const pace = createJobPace(sql, application, signal);
    const answers = deps.memory.track();
    const batches = fetchDetails(deps.webhooks, target, wanted, pace, answers, clock);
    const results = await writeBatches(wanted, batches, answers, (batch) =>
      writePageDetails(sql, fence, page_num, batch),
    );
    if (results === undefined) {
      // The fence is stale, or the run has stored as much as it may.
      const now = await findRunStep(sql, fence, page_num);
      const reason = now && (await failOverrun(deps, now.run, now.clock()));
      return reason === undefined ? STALE_FENCE : { outcome: 'failed', reason };
    }
    const { counts, failures } = results;
    let open = results.open.length;

    const later = postpone(longestRetryAfter(failures), open < wanted.length);
    // What was written is progress, which the row that was read at the start does not have.
    const progress_at = open < wanted.length ? clock() : run.progress_at;
    const mayWait = later !== undefined && mayRunWait(progress_at, clock(), later.ms);
    if (open > 0 && lastAttempt && !mayWait && !signal.aborted) {
      const written = await writePageDetails(sql, fence, page_num, [], finalFailures(results));
      if (written === undefined) return STALE_FENCE;
      counts.failed += written.failed;
      open = 0;
    }
    log.info({ run_id, application_id, page_num, ...counts, open }, 'details written');
    signal.throwIfAborted();

    if (mayWait && open > 0) {
      const [refused] = failures.flatMap(({ error }) => (error.retryAfterMs === undefined ? [] : error));
      const why = refused === undefined ? '' : `, ${explainCallError(refused)}`;
      const reason = `page ${page_num}: ${open} of ${wanted.length} details${why}`;
      await noteRequestedDelay(context, run, reason, new Date(clock().getTime() + later.ms));
      throw later;
    }
    const isLast = lastAttempt || failures.every(({ error }) => !error.retryable);
    if (isLast && page.kind === 'listed' && (await isDown(sql, run_id, wanted, failures))) {
      const reason = `no detail call of page ${page_num} was answered (${explainFailedCalls(failures)})`;
      await failRun(deps, fence, reason, findRunFault(failures.map(({ error }) => error)));
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

/** Was no call of this page answered, nor any of the run so far? Read only after a page whose calls all failed. */
const isDown = async (
  sql: Queryable,
  run_id: string,
  wanted: readonly WantedGame[],
  failures: readonly FailedCall[],
): Promise<boolean> => {
  if (failures.length === 0 || failures.some(({ error }) => isAnswered(error))) return false;
  const ids = wanted.map(([application_game_id]) => application_game_id);
  return isDetailWebhookDown(await findDetailEvidence(sql, run_id, ids));
};
