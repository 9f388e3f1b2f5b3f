import { readClock } from '#db/client.ts';
import { findApplication, lockCalledApplication } from '#db/queries/applications.ts';
import type { Failure } from '#db/queries/failures.ts';
import { addPulledBytes } from '#db/queries/refreshes.ts';
import type { DetailCounts } from '#src/contract/words.ts';
import { CatalogueError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainFailedGames, longestRetryAfter } from '#src/ingest/explain-failures.ts';
import { type DetailResult, fetchDetails, type WantedGame } from '#src/ingest/fetch-details.ts';
import { createJobPace } from '#src/ingest/for-each-paced.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { finalFailures, writeBatches, writeGames } from '#src/ingest/write-details.ts';
import { defineJob } from '#src/queue/job.ts';

const NO_APPLICATION = { skipped: 'no such application' };

/** The details of single games that an operator pulls or the application has changed, outside any run. */
export const pullGameDetailJob = defineJob(
  pullGameDetail,
  async ({ application_id, application_game_ids }, context: JobContext) => {
    const { deps, signal, lastAttempt, postpone } = context;
    const { sql } = deps;
    const application = await findApplication(sql, application_id);
    if (application === undefined) return NO_APPLICATION;
    const write = (batch: readonly DetailResult[], notRetried: readonly Failure[] = []) =>
      sql.begin(async (tx): Promise<DetailCounts | undefined> => {
        if (!(await lockCalledApplication(tx, application_id, application))) return undefined;
        const written = await writeGames(tx, application_id, batch, notRetried, { hasFailures: true });
        if (written.stored_bytes > 0) await addPulledBytes(tx, application_id, written.stored_bytes);
        return written;
      }) as Promise<DetailCounts | undefined>;

    const target = await deps.openTarget(application);
    const wanted = application_game_ids.map((id): WantedGame => [id, '']);
    const pace = createJobPace(sql, application, signal);
    const answers = deps.memory.track();
    const batches = fetchDetails(deps.webhooks, target, wanted, pace, answers, await readClock(sql));
    const results = await writeBatches(wanted, batches, answers, write);
    signal.throwIfAborted();
    if (results === undefined) return NO_APPLICATION;

    const { counts, failures, open } = results;
    const later = postpone(longestRetryAfter(failures));
    if (later !== undefined) throw later;
    if (open.length > 0) {
      if (lastAttempt) await write([], finalFailures(results));
      const reasons = explainFailedGames(failures.filter((each) => open.includes(each.application_game_id)));
      throw new CatalogueError(`${open.length} of ${wanted.length} details failed: ${reasons}`);
    }
    const { failed: _, ...written } = counts;
    return written;
  },
);
