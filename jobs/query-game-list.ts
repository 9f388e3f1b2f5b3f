import { z } from 'zod';
import type { Database } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { findPage } from '#db/queries/pages.ts';
import { findHeldRun, type RunRow } from '#db/queries/runs.ts';
import { queryGameDetail } from '#jobs/query-game-detail.ts';
import { type ApplicationGameList, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { coerceError, PermanentError, safeMessage } from '#src/errors.ts';
import { defineJob, type JobContext, type JobResult } from '#src/queue/define-job.ts';
import type { Producer } from '#src/queue/producer.ts';
import { explainWebhookError } from '#src/runs/explain.ts';
import { failRun, finishRun } from '#src/runs/finish-run.ts';
import { mayWait } from '#src/runs/may-wait.ts';
import { recordPage } from '#src/runs/record-page.ts';
import { isWebhookError } from '#src/webhooks/errors.ts';

const payload = z.object({
  application_id: z.string(),
  run_id: z.uuid(),
  fence: z.int(),
  page_num: z.int().min(1),
});

/** One page of one run (application-side game.queryList, section 4.4), or the run's end. */
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
  handler: async ({ application_id, run_id, fence, page_num }, context) => {
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
    if (run.listing_end !== null) return finish(context, run);

    const answer = await askForPage(context, application, run);
    const recorded = await recordPage(sql, { application, run, previous }, answer, context.deps.pageCap);
    if (recorded === undefined) return { skipped: 'not held' };
    context.log.info({ run_id, application_id, page_num, ...recorded }, 'page listed');
    if (recorded.end !== null && recorded.wanted === 0)
      return { ...recorded, ...(await finish(context, run)) };
    const moved = { ...run, next_page: page_num + 1, listing_end: recorded.end };
    await enqueueNextStep(producer, moved, recorded.wanted > 0);
    return recorded;
  },
});

/** Call the webhook; on the last try a failure ends the run. */
const askForPage = async (
  { deps, signal, lastAttempt, mayPostpone, postpone }: JobContext,
  application: ApplicationRow,
  run: RunRow,
): Promise<ApplicationGameList> => {
  try {
    const target = await deps.openTarget(application);
    const request = { page_num: run.next_page, page_size: PAGE_SIZE_MAX };
    return await deps.webhooks.queryGameList(target, request, signal);
  } catch (thrown) {
    const error = coerceError(thrown);
    if (isWebhookError(error)) {
      if (error.code === 'aborted') throw error;
      const waitMs = error.retryAfterMs;
      if (waitMs !== undefined && mayPostpone(waitMs) && (await mayWait(deps.sql, run, waitMs)))
        return postpone(waitMs);
      const reason = `page ${run.next_page}: ${explainWebhookError(error)}`;
      // What came may be a proxy's page in place of the answer, so a body we can't read is asked for again;
      // a refusal is not.
      const refused = error.transport && !error.retryable;
      if (refused || lastAttempt) await failRun(deps.sql, run, reason, 'application');
      throw refused ? new PermanentError(reason) : error;
    }
    if (lastAttempt) await failRun(deps.sql, run, `page ${run.next_page}: ${safeMessage(error)}`, 'nobody');
    throw error;
  }
};

const finish = async ({ deps }: JobContext, run: RunRow): Promise<JobResult> => {
  const closed = await finishRun(deps.sql, run);
  if (closed === undefined) return { skipped: 'not held' };
  const { outcome, listed, inserted, updated, withdrawn } = closed;
  return { outcome, listed, inserted, updated, withdrawn };
};

/** Does the newest recorded page still wait for details? */
export const hasOpenGames = async (sql: Database, run: RunRow): Promise<boolean> => {
  const page = await findPage(sql, run.run_id, run.next_page - 1);
  return page !== undefined && Object.keys(page.open_games).length > 0;
};

/** Ids carry the fence: a kept finished job of a former hold never swallows a new one. */
export const stepId = (run: Pick<RunRow, 'run_id' | 'fence'>, page_num: number): string =>
  `${run.run_id}.${run.fence}.${page_num}`;

/**
 * Add the run's next step: the page to ask for next (or, when the listing has ended, the run's end), after
 * the details of the page before it if any are wanted (design, section 4, step 3). Adding a step twice adds
 * it once.
 */
export const enqueueNextStep = async (
  producer: Producer,
  run: RunRow,
  detailsWanted: boolean,
): Promise<void> => {
  const { run_id, fence, application_id, next_page } = run;
  const ids = { application_id, run_id, fence };
  const step = { ...ids, page_num: next_page };
  const id = stepId(run, next_page);
  if (!detailsWanted) {
    await producer.add(queryGameList, step, { id });
    return;
  }
  const details = { ...ids, page_num: next_page - 1 };
  await producer.addAfter(
    { job: queryGameList, payload: step, id },
    { job: queryGameDetail, payload: details, id: stepId(run, next_page - 1) },
  );
};
