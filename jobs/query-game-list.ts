import { findRunStep, type RunRow, raiseFence } from '#db/queries/runs.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainWebhookError } from '#src/ingest/explain-failures.ts';
import { failRun, finishRun } from '#src/ingest/finish-run.ts';
import { mayWait } from '#src/ingest/may-wait.ts';
import { type Listing, recordPage } from '#src/ingest/record-page.ts';
import { queryGameList } from '#src/ingest/specs.ts';
import {
  enqueueNextStep,
  GO_ON_MS,
  hasOpenGames,
  isOpen,
  PAGES_A_JOB,
  pageStep,
  stepId,
} from '#src/ingest/steps.ts';
import { defineJob, type JobResult, POSTPONE_MIN_MS } from '#src/queue/job.ts';
import { isWebhookError } from '#src/webhooks/errors.ts';

/**
 * Details are open still when the step after them begins if their job ended without a word: the database was away at
 * each of its tries, or every worker that took it died. They are asked for anew this often; then they count as failed.
 */
const DETAILS_AGAIN_MAX = 2;

/**
 * One page of one run (application-side game.queryList, section 4.4), and those after it as long as they want no
 * details; or the run's end.
 */
export const queryGameListJob = defineJob(
  queryGameList,
  async ({ run_id, fence, page_num, details_again = 0 }, context: JobContext) => {
    const { sql, producer } = context.deps;
    const hold = { run_id, fence };
    const held = await findRunStep(sql, hold, page_num - 1);
    if (held === undefined) return { skipped: 'stale fence' };
    const { run, application, page: previous } = held;
    if (run.next_page > page_num) {
      // Recorded by an earlier try of this very job, which may have died before it added the next step.
      await enqueueNextStep(producer, run, await hasOpenGames(sql, run));
      return { skipped: 'recorded before' };
    }
    if (isOpen(previous) && details_again < DETAILS_AGAIN_MAX) {
      // Under a new fence: the job that ended keeps its id.
      const taken = await raiseFence(sql, run);
      if (taken === undefined) return { skipped: 'stale fence' };
      await enqueueNextStep(producer, taken, true, details_again + 1);
      return { skipped: 'details asked for again' };
    }
    if (run.listing_end !== null) return finish(context, run);

    return listPages(context, { application, run, previous });
  },
);

/** Ask for pages and record them, until one wants details, the listing ends, or the next one is for another job. */
const listPages = async (context: JobContext, first: Listing): Promise<JobResult> => {
  const { sql, producer, pageCap } = context.deps;
  const goOnUntil = performance.now() + GO_ON_MS;
  const done = { pages: 0, listed: 0, wanted: 0, invalid: 0 };
  let listing = first;
  for (;;) {
    const { application_id, run_id, next_page: page_num } = listing.run;
    const answer = await askForPage(context, listing, done.pages === 0);
    if (answer === undefined) return done;
    const page = await recordPage(sql, listing, answer, pageCap);
    if (page === undefined) return { ...done, skipped: 'stale fence' };
    const { listed, wanted, invalid, end } = page;
    context.log.info({ run_id, application_id, page_num, listed, wanted, invalid, end }, 'page listed');
    done.pages += 1;
    done.listed += listed;
    done.wanted += wanted;
    done.invalid += invalid;
    if (end !== null && wanted === 0) return { ...done, end, ...(await finish(context, listing.run)) };
    listing = page.next;
    // Another job has come past this one: what follows is its business.
    if (!page.recorded && done.pages > 1) return { ...done, end };
    const goOn = page.recorded && wanted === 0 && done.pages < PAGES_A_JOB && performance.now() < goOnUntil;
    if (!goOn) {
      await enqueueNextStep(producer, listing.run, wanted > 0);
      return { ...done, end };
    }
  }
};

/**
 * Call the webhook. On the last try a failure ends the run. A page that is not the one the job was added for gets a
 * job of its own instead, whatever was wrong: this was the first of its tries, and the application may have been
 * given another token or address since the job began.
 * @returns undefined when the page was handed on
 */
const askForPage = async (
  context: JobContext,
  { application, run }: Listing,
  own: boolean,
): Promise<ApplicationGameList | undefined> => {
  const { deps, log, signal, lastAttempt, mayPostpone, postpone } = context;
  try {
    const target = await deps.openTarget(application);
    const request = { page_num: run.next_page, page_size: PAGE_SIZE_MAX };
    return await deps.webhooks.queryGameList(target, request, signal);
  } catch (thrown) {
    const error = coerceError(thrown);
    const answered = isWebhookError(error) ? error : undefined;
    if (answered?.code === 'aborted') throw error;
    const why = answered === undefined ? safeMessage(error) : explainWebhookError(answered);
    const reason = `page ${run.next_page}: ${why}`;
    const waitMs = answered?.retryAfterMs;
    if (!own) {
      log.warn(
        { run_id: run.run_id, application_id: run.application_id, reason },
        'page to be asked for again',
      );
      const placement = waitMs === undefined ? { tried: 1 } : { delayMs: Math.max(waitMs, POSTPONE_MIN_MS) };
      const id = stepId(run, run.next_page);
      await deps.producer.add(queryGameList, pageStep(run), { id, ...placement });
      return undefined;
    }
    if (waitMs !== undefined && mayPostpone(waitMs) && (await mayWait(deps.sql, run, waitMs)))
      return postpone(waitMs);
    // What came may be a proxy's page in place of the answer, so a body we can't read is asked for again;
    // a refusal is not.
    const refused = answered?.transport === true && !answered.retryable;
    if (refused || lastAttempt)
      await failRun(deps.sql, run, reason, answered === undefined ? 'nobody' : 'application');
    throw refused ? new PermanentError(reason) : error;
  }
};

const finish = async ({ deps }: JobContext, run: RunRow): Promise<JobResult> => {
  const closed = await finishRun(deps.sql, run);
  if (closed === undefined) return { skipped: 'stale fence' };
  const { outcome, listed, inserted, updated, withdrawn } = closed;
  return { outcome, listed, inserted, updated, withdrawn };
};
