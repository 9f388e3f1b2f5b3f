import { z } from 'zod';
import { findApplication } from '#db/queries/applications.ts';
import { findPage } from '#db/queries/pages.ts';
import { findHeldRun } from '#db/queries/runs.ts';
import { CatalogueError } from '#src/errors.ts';
import { defineJob } from '#src/queue/define-job.ts';
import { explainPassing } from '#src/runs/explain.ts';
import { fetchDetails, passingFailures } from '#src/runs/fetch-details.ts';
import { failRun } from '#src/runs/finish-run.ts';
import { settleDetails } from '#src/runs/settle-details.ts';

/** The details of one page of one run (application-side game.queryDetail, section 4.5). */
export const queryGameDetail = defineJob({
  name: 'query-game-detail',
  payload: z.object({
    application_id: z.string(),
    run_id: z.uuid(),
    fence: z.int(),
    page_num: z.int().min(1),
  }),
  options: {
    // 2, 4 and 8 s of patience, then the next run asks again.
    attempts: 4,
    backoffMs: 2_000,
    // All of it is waiting for applications; each job holds up to an application's own concurrency of calls.
    concurrency: 100,
  },
  title: (payload) => `${payload.application_id} page ${payload.page_num}`,
  handler: async (
    { application_id, run_id, fence, page_num },
    { deps, signal, lastAttempt, log, postpone },
  ) => {
    const { sql } = deps;
    const hold = { run_id, fence };
    const [run, page, application] = await Promise.all([
      findHeldRun(sql, hold),
      findPage(sql, run_id, page_num),
      findApplication(sql, application_id),
    ]);
    if (run === undefined || page === undefined || application === undefined) return { skipped: 'not held' };
    const games = Object.entries(page.open_games);
    if (games.length === 0) return { skipped: 'settled before' };

    const target = await deps.openTarget(application);
    const pace = { concurrency: application.concurrency, rate: application.rate, signal };
    const fetched = await fetchDetails(deps.webhooks, target, games, pace);
    const answered = fetched.landed.length + fetched.missing.length + fetched.invalid.length;
    const waits = fetched.retryAfterMs !== undefined;
    const givenUp = lastAttempt && !waits && !signal.aborted ? passingFailures(fetched) : [];
    const settled = await settleDetails(sql, hold, page_num, fetched, givenUp);
    if (settled === undefined) return { skipped: 'not held' };
    const { open, ...counts } = settled;
    log.info({ run_id, application_id, page_num, ...counts, open }, 'details settled');
    // What landed before the shutdown is kept; the rest waits for another worker.
    signal.throwIfAborted();

    if (waits && open > 0) return postpone(fetched.retryAfterMs ?? 0);
    if (lastAttempt) {
      const away = page.answered + answered === 0 && fetched.passing.every(({ error }) => error.transport);
      if (away) {
        const reason = `no detail call of page ${page_num} got through (${explainPassing(fetched)})`;
        await failRun(sql, hold, reason);
        throw new CatalogueError(reason);
      }
      return counts;
    }
    if (open > 0) {
      throw new CatalogueError(
        `${open} of ${games.length} details wait for another try (${explainPassing(fetched)})`,
      );
    }
    return counts;
  },
});
