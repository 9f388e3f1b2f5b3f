import type { Database, Queryable } from '#db/client.ts';
import { recordSuccess } from '#db/queries/applications.ts';
import { clearBackoff, lockBackoff, saveBackoff } from '#db/queries/backoff.ts';
import { type Failure, recordFailures } from '#db/queries/failures.ts';
import {
  clearUnlistedFailures,
  failOpenGames,
  summariseListing,
  withdrawUnlisted,
} from '#db/queries/run-pages.ts';
import { closeRun, lockRun, type RunFence, type RunRow } from '#db/queries/runs.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { afterFailedRun } from '#src/rules/backoff.ts';
import { runVerdict } from '#src/rules/outcome.ts';

/** One transaction that may close a run; once it is committed, whoever counts runs is told. */
const closing = async (
  sql: Database,
  work: (tx: Queryable) => Promise<RunRow | undefined>,
): Promise<RunRow | undefined> => {
  const closed = (await sql.begin(work)) as RunRow | undefined;
  if (closed !== undefined) runEnded.publish(closed);
  return closed;
};

/**
 * A game whose detail was still to come: `not_asked` when the run ended before it; `internal` when nobody knows why any
 * more, for the job that was to settle it ended without a word.
 */
const failureOf =
  (kind: 'not_asked' | 'internal') =>
  (application_game_id: string): Failure => ({
    application_game_id,
    kind,
    reasons: [{ path: '', code: kind }],
  });

/**
 * End a run whose listing has ended: derive its outcome from its counters, withdraw what a complete listing
 * did not name, and close it, all in one transaction under the run's fence.
 * @returns the closed run, or undefined when it is not held any more: then nothing was written.
 */
export const finishRun = (sql: Database, hold: RunFence): Promise<RunRow | undefined> =>
  closing(sql, async (tx) => {
    const run = await lockRun(tx, hold);
    if (run?.listing_end == null) return undefined;
    const lost = await failOpenGames(tx, run.run_id);
    await recordFailures(tx, run.application_id, 'query_game_detail', lost.map(failureOf('internal')));
    const listing = await summariseListing(tx, run.run_id, run.application_id);
    const verdict = runVerdict({
      ...listing,
      end: run.listing_end,
      totalFirst: run.total_first ?? 0,
      totalLast: run.total_last ?? 0,
      totalMax: run.total_max ?? 0,
      acceptWithdrawals: run.accept_withdrawals,
    });
    // Before its games: whoever holds the application may be about to write them.
    await clearBackoff(tx, run.application_id);
    if (verdict.outcome !== 'suspect') await recordSuccess(tx, run.application_id);
    const withdrawn = verdict.withdraw ? await withdrawUnlisted(tx, run.run_id, run.application_id) : 0;
    if (run.listing_end === 'complete') await clearUnlistedFailures(tx, run.run_id, run.application_id);
    return closeRun(tx, hold, { ...verdict, withdrawn });
  });

const endEarly = (
  sql: Database,
  hold: RunFence,
  outcome: 'failed' | 'abandoned',
  reason: string,
  countsAgainst: 'application' | 'nobody',
): Promise<RunRow | undefined> =>
  closing(sql, async (tx) => {
    const run = await lockRun(tx, hold);
    if (run === undefined) return undefined;
    const left = await failOpenGames(tx, run.run_id);
    await recordFailures(tx, run.application_id, 'query_game_detail', left.map(failureOf('not_asked')));
    const closed = await closeRun(tx, hold, { outcome, reason });
    if (closed !== undefined && countsAgainst === 'application') await extendBackoff(tx, closed);
    return closed;
  });

/** An operator who tries by hand while an application is being mended does not make it wait longer. */
const extendBackoff = async (tx: Queryable, run: RunRow): Promise<void> => {
  if (run.trigger !== 'schedule') return;
  const before = await lockBackoff(tx, run.application_id);
  if (before === undefined) return;
  const failed = { ...run, finished_at: run.finished_at ?? new Date() };
  await saveBackoff(tx, run.application_id, afterFailedRun(before, failed, before.every_ms));
};

/**
 * End a run as failed: nothing more will be asked of the application until the next one. Games whose detail
 * was still to come count as failed.
 * @param countsAgainst the application, when it was its server that did not answer as it should: its schedule
 *   then backs off (src/rules/backoff.ts)
 */
export const failRun = (
  sql: Database,
  hold: RunFence,
  reason: string,
  countsAgainst: 'application' | 'nobody',
) => endEarly(sql, hold, 'failed', reason, countsAgainst);

/** End a run that nobody drives any more. */
export const abandonRun = (sql: Database, hold: RunFence, reason: string) =>
  endEarly(sql, hold, 'abandoned', reason, 'nobody');
