import type { Database, Queryable } from '#db/client.ts';
import { recordSuccess } from '#db/queries/applications.ts';
import { clearBackoff, lockBackoff, saveBackoff } from '#db/queries/backoff.ts';
import { type Failure, recordFailures } from '#db/queries/failures.ts';
import { failOpenGames } from '#db/queries/run-pages.ts';
import { closeRun, lockRun, type RunFence, type RunRow } from '#db/queries/runs.ts';
import { clearUnlistedFailures, summariseListing, withdrawUnlisted } from '#db/queries/unlisted-games.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { afterFailedRun } from '#src/rules/backoff.ts';
import { runVerdict } from '#src/rules/outcome.ts';

/** Run a transaction that may close a run; publish the closed run after the commit. */
const closing = async (
  sql: Database,
  work: (tx: Queryable) => Promise<RunRow | undefined>,
): Promise<RunRow | undefined> => {
  const closed = (await sql.begin(work)) as RunRow | undefined;
  if (closed !== undefined) runEnded.publish(closed);
  return closed;
};

/**
 * Count the run's open games as failed.
 * @param kind `not_asked` when the run ends before their detail; `internal` when their detail job was lost
 */
const failOpen = async (tx: Queryable, run: RunRow, kind: 'not_asked' | 'internal'): Promise<void> => {
  const ids = await failOpenGames(tx, run.run_id);
  const failures = ids.map(
    (application_game_id): Failure => ({ application_game_id, kind, reasons: [{ path: '', code: kind }] }),
  );
  await recordFailures(tx, run.application_id, 'query_game_detail', failures);
};

/**
 * End a run whose listing has ended, in one transaction under its fence: derive its outcome from its counters,
 * withdraw the games that a complete listing did not name, and close it.
 * @returns the closed run, or undefined when the fence is stale: then nothing was written
 */
export const finishRun = (sql: Database, fence: RunFence): Promise<RunRow | undefined> =>
  closing(sql, async (tx) => {
    const run = await lockRun(tx, fence);
    if (run?.listing_end == null) return undefined;
    await failOpen(tx, run, 'internal');
    const listing = await summariseListing(tx, run.run_id, run.application_id);
    const verdict = runVerdict({
      ...listing,
      end: run.listing_end,
      totalFirst: run.total_first ?? 0,
      totalLast: run.total_last ?? 0,
      totalMax: run.total_max ?? 0,
      acceptWithdrawals: run.accept_withdrawals,
    });
    // The application before its games: a transaction that has locked the application may write games.
    await clearBackoff(tx, run.application_id);
    if (verdict.outcome !== 'suspect') await recordSuccess(tx, run.application_id);
    const withdrawn = verdict.withdraw ? await withdrawUnlisted(tx, run.run_id, run.application_id) : 0;
    if (run.listing_end === 'complete' && listing.unread.length === 0)
      await clearUnlistedFailures(tx, run.run_id, run.application_id);
    return closeRun(tx, fence, { ...verdict, withdrawn });
  });

/**
 * End a run before its listing has ended. Its open games count as failed.
 * @param fault `application` when its server did not answer as it should: its schedule backs off (src/rules/backoff.ts)
 */
const endEarly = (
  sql: Database,
  fence: RunFence,
  verdict: { outcome: 'failed' | 'abandoned'; reason: string },
  fault: 'application' | 'none',
): Promise<RunRow | undefined> =>
  closing(sql, async (tx) => {
    const run = await lockRun(tx, fence, 'removed');
    if (run === undefined) return undefined;
    await failOpen(tx, run, 'not_asked');
    const closed = await closeRun(tx, fence, verdict);
    // Manual runs do not count: an operator who tests a repair must not delay the schedule further.
    if (closed?.trigger === 'schedule' && fault === 'application') await extendBackoff(tx, closed);
    return closed;
  });

const extendBackoff = async (tx: Queryable, run: RunRow): Promise<void> => {
  const before = await lockBackoff(tx, run.application_id);
  if (before === undefined) return;
  const failed = { ...run, finished_at: run.finished_at ?? new Date() };
  await saveBackoff(tx, run.application_id, afterFailedRun(before, failed, before.every_ms));
};

export const failRun = (sql: Database, fence: RunFence, reason: string, fault: 'application' | 'none') =>
  endEarly(sql, fence, { outcome: 'failed', reason }, fault);

export const abandonRun = (sql: Database, fence: RunFence, reason: string) =>
  endEarly(sql, fence, { outcome: 'abandoned', reason }, 'none');
