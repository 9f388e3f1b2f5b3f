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

const NOTHING_WRITTEN = { inserted: 0, updated: 0, unchanged: 0, invalid: 0, missing: 0 };

const NO_APPLICATION = { skipped: 'no such application' };

/** The details of single games that an operator pulls or the application has changed, outside any run. */
export const pullGameDetailJob = defineJob(
  pullGameDetail,
  async (
    { application_id, application_game_ids, written: before = NOTHING_WRITTEN },
    context: JobContext,
  ) => {
    const { deps, signal, lastAttempt, postpone, keepRest } = context;
    const { sql } = deps;
    const application = await findApplication(sql, application_id);
    if (application === undefined) return NO_APPLICATION;
    const write = (batch: readonly DetailResult[], notRetried: readonly Failure[] = []) =>
      sql.begin(async (tx): Promise<DetailCounts | undefined> => {
        if (!(await lockCalledApplication(tx, application_id, application))) return undefined;
        const written = await writeGames(tx, application_id, batch, notRetried, { hasFailures: true });
        if (written.stored_bytes > 0) await addPulledBytes(tx, application_id, written.stored_bytes);
        return written;
      });

    const target = await deps.openTarget(application);
    const wanted = application_game_ids.map((id): WantedGame => [id, '']);
    const pace = createJobPace(sql, application, signal);
    const answers = deps.memory.track();
    const batches = fetchDetails(deps.webhooks, target, wanted, pace, answers, await readClock(sql));
    const results = await writeBatches(wanted, batches, answers, write);
    signal.throwIfAborted();
    if (results === undefined) return NO_APPLICATION;

    const { counts, failures, open } = results;
    const written = {
      inserted: before.inserted + counts.inserted,
      updated: before.updated + counts.updated,
      unchanged: before.unchanged + counts.unchanged,
      invalid: before.invalid + counts.invalid,
      missing: before.missing + counts.missing,
    };
    if (open.length === 0) return written;
    // A rate limit of the application may let through fewer calls than a job has games.
    const hasProgressed = open.length < wanted.length;
    if (hasProgressed) await keepRest({ application_id, application_game_ids: open, written });
    const later = postpone(longestRetryAfter(failures), hasProgressed);
    if (later !== undefined) throw later;
    if (lastAttempt) await write([], finalFailures(results));
    const reasons = explainFailedGames(failures.filter((each) => open.includes(each.application_game_id)));
    const all = Object.values(written).reduce((sum, games) => sum + games, open.length);
    throw new CatalogueError(`${open.length} of ${all} details failed: ${reasons}`);
  },
);
