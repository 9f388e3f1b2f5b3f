import { insertUnreadPage } from '#db/queries/run-pages.ts';
import { findRunStep, type RunStep, type StoredPage } from '#db/queries/run-steps.ts';
import { type RunRow, raiseFence } from '#db/queries/runs.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { isCallError } from '#src/egress/errors.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainCallError } from '#src/ingest/explain-failures.ts';
import { failOverrun, failRun, finishListing, finishRun } from '#src/ingest/finish-run.ts';
import { noteRequestedDelay } from '#src/ingest/note-requested-delay.ts';
import { type ComparedPage, comparePage, type ListCursor, recordAll } from '#src/ingest/record-page.ts';
import { replaceRun } from '#src/ingest/recover-runs.ts';
import { queryGameList } from '#src/ingest/specs.ts';
import {
  CONTINUE_MS,
  enqueueDetails,
  enqueueNextPage,
  enqueueNextStep,
  hasOpenGames,
  isOpen,
  PAGES_A_JOB,
  STALE_FENCE,
} from '#src/ingest/steps.ts';
import { waitUntil } from '#src/lib/wait-until.ts';
import { defineJob, type JobResult } from '#src/queue/job.ts';
import { findRunFault, maySkipPage } from '#src/rules/down.ts';
import { mayRunWait } from '#src/rules/waiting.ts';
import { isKeyError } from '#src/sealing/errors.ts';

/**
 * Details are still open after their job if it was lost, because the database was down at each attempt or every worker that
 * ran the job died. They are enqueued again this often; then they count as failed.
 */
const DETAILS_AGAIN_MAX = 2;

/** Ids of games, and failures of rows, that one job keeps before it records their pages. */
const UNRECORDED_BYTES_MAX = 256 * 1024;
const BYTES_OF_FAILURE = 512;

/**
 * One page of one run (application-side game.queryList, section 4.4), and the pages after it that need no details; or
 * the run's end.
 */
export const queryGameListJob = defineJob(
  queryGameList,
  async ({ run_id, fence, page_num, details_again = 0 }, context: JobContext) => {
    const { deps } = context;
    const { sql, producer } = deps;
    const step = await findRunStep(sql, { run_id, fence }, page_num - 1);
    if (step === undefined) return STALE_FENCE;
    const { run, page: previous } = step;
    if (run.next_page > page_num) {
      // An earlier attempt recorded the page and may have died before it added the next step.
      await enqueueNextStep(producer, run, await hasOpenGames(sql, run));
      return { skipped: 'recorded before' };
    }
    if (page_num > 1 && previous === undefined) {
      await replaceRun(deps, run, 'a crash of Postgres emptied the table of pages');
      return { outcome: 'abandoned' };
    }
    if (run.listing_end === null || isOpen(previous)) {
      const reason = await failOverrun(deps, run, step.clock());
      if (reason !== undefined) return { outcome: 'failed', reason };
    }
    if (isOpen(previous) && details_again < DETAILS_AGAIN_MAX) {
      // Under a new fence, because the ended job keeps its id.
      const raised = await raiseFence(sql, run);
      if (raised === undefined) return STALE_FENCE;
      await enqueueDetails(producer, raised, details_again + 1);
      return { skipped: 'details enqueued again' };
    }
    return run.listing_end === null ? listPages(context, step) : finish(context, run, previous);
  },
);

/**
 * Fetches and compares pages until one needs details, the listing ends, or the job has had its share. Then records them
 * together, so a job that dies before that requests them again.
 */
const listPages = async (context: JobContext, step: RunStep): Promise<JobResult> => {
  const { deps, log } = context;
  const continueUntil = performance.now() + CONTINUE_MS;
  const totals = { pages: 0, listed: 0, wanted: 0, invalid: 0 };
  let cursor: ListCursor = {
    application: step.application,
    run: step.run,
    previous: step.page,
    unrecorded: [],
  };
  do {
    const startedAt = performance.now();
    const response = await callGameList(context, cursor, totals.pages === 0 ? step.clock : undefined);
    if (response === undefined) return totals;
    cursor = await comparePage(deps, cursor, response);
    const page = cursor.unrecorded.at(-1) as ComparedPage;
    const { application_id, run_id, listing_end: end } = cursor.run;
    const { page_num, invalid } = page;
    const counts = { listed: page.application_game_ids.length, wanted: wantedOf(page), invalid };
    log.info({ run_id, application_id, page_num, ...counts, end }, 'page listed');
    totals.pages += 1;
    totals.listed += counts.listed;
    totals.wanted += counts.wanted;
    totals.invalid += counts.invalid;
    // The next page follows at the application's pace, in this job or in the next one.
    if (end === null) await waitUntil(startedAt + 1_000 / step.application.rate, context.signal);
  } while (mayContinue(cursor) && totals.pages < PAGES_A_JOB && performance.now() < continueUntil);
  const end = cursor.run.listing_end;
  if (end !== null && totals.wanted === 0) {
    const ended = await finishListing(deps, cursor);
    return { ...totals, end, ...(await afterEnd(context, cursor.run, ended)) };
  }
  if (!(await recordAll(deps.sql, cursor))) return { ...totals, ...(await resume(context, step.run)) };
  await enqueueNextStep(deps.producer, cursor.run, totals.wanted > 0);
  return { ...totals, end };
};

/** Continues after another job, which has recorded a page of this job and may have died before it added the next step. */
const resume = async ({ deps }: JobContext, { run_id, fence }: RunRow): Promise<JobResult> => {
  const step = await findRunStep(deps.sql, { run_id, fence }, 0);
  if (step === undefined) return STALE_FENCE;
  await enqueueNextStep(deps.producer, step.run, await hasOpenGames(deps.sql, step.run));
  return { skipped: 'recorded before' };
};

const wantedOf = (page: ComparedPage): number => Object.keys(page.open_games).length;

const bytesOf = (page: ComparedPage): number => page.listed_bytes + page.failures.length * BYTES_OF_FAILURE;

/** May another page follow before these are recorded? */
const mayContinue = ({ run, unrecorded }: ListCursor): boolean =>
  run.listing_end === null &&
  unrecorded.every((page) => wantedOf(page) === 0) &&
  unrecorded.reduce((bytes, page) => bytes + bytesOf(page), 0) < UNRECORDED_BYTES_MAX;

/**
 * Calls the webhook for the run's next page.
 * @param clock the database's, for the page that the job was added for. Without it, a new job retries the page after any
 * failure, because the page has had one attempt, and the application's token or address may have changed since this job
 * began.
 * @returns undefined when a new job retries the page, or the page was skipped because it cannot be read
 */
const callGameList = async (
  context: JobContext,
  cursor: ListCursor,
  clock: (() => Date) | undefined,
): Promise<ApplicationGameList | undefined> => {
  const { deps, log, signal, lastAttempt, postpone } = context;
  const { application, run, previous } = cursor;
  try {
    const target = await deps.openTarget(application);
    const request = { page_num: run.next_page, page_size: PAGE_SIZE_MAX };
    return await deps.webhooks.queryGameList(target, request, signal);
  } catch (thrown) {
    const error = coerceError(thrown);
    const failure = isCallError(error) ? error : undefined;
    const isRecorded = await recordAll(deps.sql, cursor);
    if (failure?.code === 'aborted') throw error;
    if (!isRecorded) return undefined;
    let reason = `page ${run.next_page}: ${explainError(error)}`;
    const later = postpone(failure?.retryAfterMs);
    if (clock === undefined) {
      const { run_id, application_id } = run;
      log.warn({ run_id, application_id, reason }, 'page failed: a new job retries it');
      if (later !== undefined)
        await noteRequestedDelay(context, run, reason, new Date(context.now() + later.ms));
      const placement = later === undefined ? { attemptsMade: 1 } : { delayMs: later.ms };
      await enqueueNextPage(deps.producer, run, placement);
      return undefined;
    }
    if (later !== undefined && mayRunWait(run.progress_at, clock(), later.ms)) {
      await noteRequestedDelay(context, run, reason, new Date(clock().getTime() + later.ms));
      throw later;
    }
    // An unreadable body may be a proxy's page in place of the response, so it is retried; a refusal is not.
    const isRefusal = failure?.transport === true && !failure.retryable;
    if (lastAttempt && failure !== undefined && maySkipPage(run.next_page, failure)) {
      if (previous?.kind !== 'unread') {
        log.warn({ run_id: run.run_id, application_id: run.application_id, reason }, 'page skipped');
        const end = run.next_page >= deps.pageCap ? 'page_cap' : null;
        const next = await insertUnreadPage(deps.sql, run, reason, end);
        if (next !== undefined) await enqueueNextPage(deps.producer, next);
        return undefined;
      }
      reason = `${previous.reason}; ${reason}`;
    }
    if (isRefusal || lastAttempt) {
      const fault = isKeyError(error) ? 'keys' : findRunFault(failure === undefined ? [] : [failure]);
      await failRun(deps, run, reason, fault);
    }
    throw isRefusal ? new PermanentError(reason) : error;
  }
};

/** One failure in a few words. The first one is its code, which the failure list takes for its kind. */
const explainError = (error: Error): string => {
  if (isCallError(error)) return explainCallError(error);
  return isKeyError(error) ? `${error.code}: ${error.message}` : safeMessage(error);
};

/** Ends the run, or goes on to its next page of unlisted games. */
const finish = async (context: JobContext, run: RunRow, previous?: StoredPage): Promise<JobResult> => {
  const verifiedPage = previous?.kind === 'unlisted' ? previous.page_num : undefined;
  return afterEnd(context, run, await finishRun(context.deps, run, verifiedPage));
};

/** @param ended the run after its last page; undefined when nothing was written */
const afterEnd = async (context: JobContext, run: RunRow, ended: RunRow | undefined): Promise<JobResult> => {
  if (ended === undefined) return resume(context, run);
  if (ended.finished_at === null) {
    await enqueueDetails(context.deps.producer, ended);
    return { verifies: 'unlisted games' };
  }
  const { outcome, listed, inserted, updated, withdrawn } = ended;
  return { outcome, listed, inserted, updated, withdrawn };
};
