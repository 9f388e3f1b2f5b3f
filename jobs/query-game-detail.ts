import { findRunStep } from '#db/queries/runs.ts';
import { CatalogueError, PermanentError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainPassing } from '#src/ingest/explain-failures.ts';
import { fetchDetails, givenUpFailures } from '#src/ingest/fetch-details.ts';
import { failRun } from '#src/ingest/finish-run.ts';
import { mayWait } from '#src/ingest/may-wait.ts';
import { settleAlong } from '#src/ingest/settle-along.ts';
import { queryGameDetail } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

/**
 * A page whose every detail call failed on its way means that the application is away, if it wants this many: one
 * or two games that always fail must not end every run at their page.
 */
const AWAY_MIN = 3;

/** The details of one page of one run (application-side game.queryDetail, section 4.5). */
export const queryGameDetailJob = defineJob(
  queryGameDetail,
  async (
    { application_id, run_id, fence, page_num },
    { deps, signal, lastAttempt, log, mayPostpone, postpone }: JobContext,
  ) => {
    const { sql } = deps;
    const hold = { run_id, fence };
    const held = await findRunStep(sql, hold, page_num);
    if (held?.page === undefined) return { skipped: 'stale fence' };
    const { run, application, page, clock } = held;
    const games = Object.entries(page.open_games);
    const ids = games.map(([id]) => id);
    if (games.length === 0) return { skipped: 'settled before' };

    const target = await deps.openTarget(application);
    const pace = { concurrency: application.concurrency, rate: application.rate, signal };
    const settler = settleAlong(sql, hold, page_num);
    const fetched = await fetchDetails(deps.webhooks, target, games, pace, clock, settler.onAnswer);
    const reached = fetched.invalid.filter((failure) => failure.reached);
    const landed = fetched.landed.length + fetched.stored.length;
    const answered = landed + fetched.missing.length + reached.length;
    const { retryAfterMs } = fetched;
    const waits =
      retryAfterMs !== undefined && mayPostpone(retryAfterMs) && (await mayWait(sql, run, retryAfterMs));
    const givenUp = lastAttempt && !waits && !signal.aborted ? givenUpFailures(fetched, ids) : [];
    const settled = await settler.finish(fetched, givenUp);
    if (settled === undefined) return { skipped: 'stale fence' };
    const { open, ...counts } = settled;
    log.info({ run_id, application_id, page_num, ...counts, open }, 'details settled');
    // What landed before the shutdown is kept; the rest waits for another worker.
    signal.throwIfAborted();

    if (waits && open > 0) return postpone(retryAfterMs);
    const unreached = fetched.passing.length + fetched.invalid.length - reached.length;
    const away =
      page.answered + answered === 0 &&
      fetched.passing.every(({ error }) => error.transport) &&
      unreached > 0 &&
      games.length >= AWAY_MIN;
    if (away && (lastAttempt || fetched.passing.length === 0)) {
      const reason = `no detail call of page ${page_num} got through (${explainPassing(fetched)})`;
      await failRun(sql, hold, reason, 'application');
      throw new PermanentError(reason);
    }
    if (open > 0 && !lastAttempt) {
      throw new CatalogueError(
        `${open} of ${games.length} details wait for another try (${explainPassing(fetched)})`,
      );
    }
    return counts;
  },
);
