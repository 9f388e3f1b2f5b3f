import type { Database } from '#db/client.ts';
import {
  clearUnlistedFailures,
  failOpenGames,
  summariseListing,
  withdrawUnlisted,
} from '#db/queries/pages.ts';
import { closeRun, lockHeldRun, type RunHold, type RunRow } from '#db/queries/runs.ts';
import { runVerdict } from '#src/catalogue/outcome.ts';

/**
 * End a run whose listing has ended: derive its outcome from its counters, withdraw what a complete listing
 * did not name, and close it, all in one transaction under the run's fence.
 * @returns the closed run, or undefined when it is not held any more: then nothing was written.
 */
export const finishRun = (sql: Database, hold: RunHold): Promise<RunRow | undefined> =>
  sql.begin(async (tx) => {
    const run = await lockHeldRun(tx, hold);
    if (run?.listing_end == null) return undefined;
    await failOpenGames(tx, run.run_id);
    const listing = await summariseListing(tx, run.run_id, run.application_id);
    const verdict = runVerdict({
      ...listing,
      end: run.listing_end,
      totalFirst: run.total_first ?? 0,
      totalLast: run.total_last ?? 0,
      totalMax: run.total_max ?? 0,
      acceptWithdrawals: run.accept_withdrawals,
    });
    const withdrawn = verdict.withdraw ? await withdrawUnlisted(tx, run.run_id, run.application_id) : 0;
    if (run.listing_end === 'complete') await clearUnlistedFailures(tx, run.run_id, run.application_id);
    return closeRun(tx, hold, { ...verdict, withdrawn });
  }) as Promise<RunRow | undefined>;

const endEarly = (
  sql: Database,
  hold: RunHold,
  outcome: 'failed' | 'abandoned',
  reason: string,
): Promise<RunRow | undefined> =>
  sql.begin(async (tx) => {
    const run = await lockHeldRun(tx, hold);
    if (run === undefined) return undefined;
    await failOpenGames(tx, run.run_id);
    return closeRun(tx, hold, { outcome, reason });
  }) as Promise<RunRow | undefined>;

/**
 * End a run as failed: nothing more will be asked of the application until the next one. Games whose detail
 * was still to come count as failed.
 */
export const failRun = (sql: Database, hold: RunHold, reason: string) =>
  endEarly(sql, hold, 'failed', reason);

/** End a run that nobody drives any more. */
export const abandonRun = (sql: Database, hold: RunHold, reason: string) =>
  endEarly(sql, hold, 'abandoned', reason);
