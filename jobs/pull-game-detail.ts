import { readClock } from '#db/client.ts';
import { findApplication, lockActiveApplication } from '#db/queries/applications.ts';
import type { Failure } from '#db/queries/failures.ts';
import type { DetailCounts } from '#src/contract/words.ts';
import { CatalogueError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainFailedCalls, longestRetryAfter } from '#src/ingest/explain-failures.ts';
import { type DetailBatch, emptyBatch, fetchDetails, type WantedGame } from '#src/ingest/fetch-details.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { finalFailures, writeBatches, writeGames } from '#src/ingest/write-details.ts';
import { defineJob, RetryAfter } from '#src/queue/job.ts';

const NO_APPLICATION = { skipped: 'no such application' };

/** The details of single games that an operator pulls, outside any run. */
export const pullGameDetailJob = defineJob(
  pullGameDetail,
  async ({ application_id, application_game_ids }, context: JobContext) => {
    const { deps, signal, lastAttempt, mayPostpone } = context;
    const { sql } = deps;
    const application = await findApplication(sql, application_id);
    if (application === undefined) return NO_APPLICATION;
    const write = (batch: DetailBatch, notRetried: readonly Failure[] = []) =>
      sql.begin(async (tx): Promise<DetailCounts | undefined> => {
        if (!(await lockActiveApplication(tx, application_id))) return undefined;
        return writeGames(tx, application_id, batch, notRetried, true);
      }) as Promise<DetailCounts | undefined>;

    const target = await deps.openTarget(application);
    const wanted = application_game_ids.map((id): WantedGame => [id, '']);
    const pace = { concurrency: application.concurrency, rate: application.rate, signal };
    const batches = fetchDetails(deps.webhooks, target, wanted, pace, await readClock(sql));
    const results = await writeBatches(wanted, batches, write);
    signal.throwIfAborted();
    if (results === undefined) return NO_APPLICATION;

    const { counts, failures, open } = results;
    const waitMs = longestRetryAfter(failures);
    if (waitMs !== undefined && mayPostpone(waitMs)) throw new RetryAfter(waitMs);
    if (open.length > 0) {
      if (lastAttempt) await write(emptyBatch(), finalFailures(results));
      throw new CatalogueError(
        `${open.length} of ${wanted.length} details failed (${explainFailedCalls(failures)})`,
      );
    }
    const { failed: _, ...written } = counts;
    return written;
  },
);
