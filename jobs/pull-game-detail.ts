import { readClock } from '#db/client.ts';
import { findApplication, lockActiveApplication } from '#db/queries/applications.ts';
import { clearFailures, recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { CatalogueError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { explainPassing } from '#src/ingest/explain-failures.ts';
import { fetchDetails, givenUpFailures } from '#src/ingest/fetch-details.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

/** The details of single games, asked for by hand, outside any run. */
export const pullGameDetailJob = defineJob(
  pullGameDetail,
  async (
    { application_id, application_game_ids },
    { deps, signal, lastAttempt, mayPostpone, postpone }: JobContext,
  ) => {
    const { sql } = deps;
    const application = await findApplication(sql, application_id);
    if (application === undefined) return { skipped: 'no such application' };
    const target = await deps.openTarget(application);
    const games = application_game_ids.map((id) => [id, ''] as const);
    const pace = { concurrency: application.concurrency, rate: application.rate, signal };
    const fetched = await fetchDetails(deps.webhooks, target, games, pace, await readClock(sql));
    signal.throwIfAborted();
    const { retryAfterMs } = fetched;
    const waits = retryAfterMs !== undefined && mayPostpone(retryAfterMs);
    const givenUp = lastAttempt && !waits ? givenUpFailures(fetched, application_game_ids) : [];
    const written = await sql.begin(async (tx) => {
      if (!(await lockActiveApplication(tx, application_id))) return undefined;
      const upserted = await upsertGames(tx, application_id, fetched.landed);
      const settled = [...fetched.landed.map((game) => game.application_game_id), ...fetched.missing];
      await clearFailures(tx, application_id, 'query_game_detail', settled);
      await recordFailures(tx, application_id, 'query_game_detail', [...fetched.invalid, ...givenUp]);
      return upserted;
    });
    if (written === undefined) return { skipped: 'no such application' };
    const { inserted, updated } = written;
    if (waits) return postpone(retryAfterMs);
    const open =
      application_game_ids.length - fetched.landed.length - fetched.missing.length - fetched.invalid.length;
    if (open > 0) {
      throw new CatalogueError(
        `${open} of ${application_game_ids.length} details failed (${explainPassing(fetched)})`,
      );
    }
    return {
      inserted: inserted.length,
      updated: updated.length,
      unchanged: fetched.landed.length - inserted.length - updated.length,
      invalid: fetched.invalid.length,
      missing: fetched.missing.length,
    };
  },
);
