import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { findPage } from '#db/queries/run-pages.ts';
import { findHeldRun, type RunRow, type StoredPage, takeOverRun } from '#db/queries/runs.ts';
import { queryGameDetail } from '#jobs/query-game-detail.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import { explainWebhookError } from '#src/ingest/explain-failures.ts';
import { failRun, finishRun } from '#src/ingest/finish-run.ts';
import { mayWait } from '#src/ingest/may-wait.ts';
import { type Listing, recordPage } from '#src/ingest/record-page.ts';
import { defineJob, type JobContext, type JobResult, POSTPONE_MIN_MS } from '#src/queue/define-job.ts';
import type { Producer } from '#src/queue/producer.ts';
import { isWebhookError } from '#src/webhooks/errors.ts';

const payload = z.object({
  application_id: z.string(),
  run_id: z.uuid(),
  fence: z.int(),
  page_num: z.int().min(1),
  /** How often the details of the page before were asked for anew: see `DETAILS_AGAIN_MAX`. */
  details_again: z.int().optional(),
});

/**
 * A page costs less than its job where nothing has changed: up to so many such pages follow each other in one job,
 * as long as they begin within so many milliseconds. Other applications wait no longer for them than for one page
 * that is slow to come.
 */
export const PAGES_A_JOB = 16;
export const GO_ON_MS = 200;

/**
 * Details are open still when the step after them begins if their job ended without a word: the database was away at
 * each of its tries, or every worker that took it died. They are asked for anew this often; then they count as failed.
 */
const DETAILS_AGAIN_MAX = 2;

/**
 * One page of one run (application-side game.queryList, section 4.4), and those after it as long as they want no
 * details; or the run's end.
 */
export const queryGameList = defineJob({
  name: 'query-game-list',
  payload,
  options: {
    // 2, 4, 8 and 16 s of patience, then the run fails and the next one starts afresh.
    attempts: 5,
    backoffMs: 2_000,
    concurrency: 100,
  },
  title: ({ application_id, page_num }) => `${application_id} page ${page_num}`,
  handler: async ({ run_id, fence, page_num, details_again = 0 }, context) => {
    const { sql, producer } = context.deps;
    const hold = { run_id, fence };
    const held = await findHeldRun(sql, hold, page_num - 1);
    if (held === undefined) return { skipped: 'not held' };
    const { run, application, page: previous } = held;
    if (run.next_page > page_num) {
      // Recorded by an earlier try of this very job, which may have died before it added the next step.
      await enqueueNextStep(producer, run, await hasOpenGames(sql, run));
      return { skipped: 'recorded before' };
    }
    if (isOpen(previous) && details_again < DETAILS_AGAIN_MAX) {
      // Under a new fence: the job that ended keeps its id.
      const taken = await takeOverRun(sql, run);
      if (taken === undefined) return { skipped: 'not held' };
      await enqueueNextStep(producer, taken, true, details_again + 1);
      return { skipped: 'details asked for again' };
    }
    if (run.listing_end !== null) return finish(context, run);

    return listPages(context, { application, run, previous });
  },
});

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
    if (page === undefined) return { ...done, skipped: 'not held' };
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
      await deps.producer.add(queryGameList, stepOf(run), { id, ...placement });
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
  if (closed === undefined) return { skipped: 'not held' };
  const { outcome, listed, inserted, updated, withdrawn } = closed;
  return { outcome, listed, inserted, updated, withdrawn };
};

const isOpen = (page: StoredPage | undefined): boolean =>
  page !== undefined && Object.keys(page.open_games).length > 0;

/** Does the newest recorded page still wait for details? */
export const hasOpenGames = async (sql: Database, run: RunRow): Promise<boolean> =>
  isOpen(await findPage(sql, run.run_id, run.next_page - 1));

/** Ids carry the fence: a kept finished job of a former hold never swallows a new one. */
export const stepId = (run: Pick<RunRow, 'run_id' | 'fence'>, page_num: number): string =>
  `${run.run_id}.${run.fence}.${page_num}`;

const stepOf = ({ application_id, run_id, fence, next_page }: RunRow): z.infer<typeof payload> => ({
  application_id,
  run_id,
  fence,
  page_num: next_page,
});

/**
 * Add the run's next step: the page to ask for next (or, when the listing has ended, the run's end), after
 * the details of the page before it if any are wanted (design, section 4, step 3). Adding a step twice adds
 * it once.
 */
export const enqueueNextStep = async (
  producer: Producer,
  run: RunRow,
  detailsWanted: boolean,
  details_again?: number,
): Promise<void> => {
  const step = stepOf(run);
  const id = stepId(run, step.page_num);
  if (!detailsWanted) {
    await producer.add(queryGameList, step, { id });
    return;
  }
  const details = { ...step, page_num: step.page_num - 1 };
  await producer.addAfter(
    { job: queryGameList, payload: { ...step, details_again }, id },
    { job: queryGameDetail, payload: details, id: stepId(run, details.page_num) },
  );
};
