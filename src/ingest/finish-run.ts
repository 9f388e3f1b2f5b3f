import { allowLongStatements, type Database, type Queryable } from '#db/client.ts';
import { lockBackoff, readReach, saveBackoff } from '#db/queries/backoff.ts';
import { type Failure, recordFailures } from '#db/queries/failures.ts';
import { failOpenGames } from '#db/queries/run-pages.ts';
import {
  addReason,
  closeRun,
  closeUnchanged,
  lockRun,
  type RunFence,
  type RunRow,
} from '#db/queries/runs.ts';
import {
  clearUnlistedFailures,
  forgetVanishingGames,
  insertUnlistedPages,
  moveToUnlistedPage,
  recordVanishingGames,
  summariseListing,
  withdrawOrMark,
  withdrawUnlisted,
} from '#db/queries/unlisted-games.ts';
import type { RunFault } from '#src/contract/words.ts';
import { explainUpdates } from '#src/ingest/explain-updates.ts';
import { findUnchanged, recordPages, type Unrecorded } from '#src/ingest/record-page.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { afterFailedRun, areMostUnreachable, MOST_UNREACHABLE } from '#src/rules/backoff.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { isComplete, judgeRun, planUnlisted, type VerifiedGames } from '#src/rules/outcome.ts';
import { explainOverrun } from '#src/rules/run-budget.ts';

/**
 * What the end of a run needs. A run that ends may pause or resume its application. Operations do that, and write their
 * entries in the audit log, as the last statements of the transaction that ends the run.
 */
export type RunEndings = {
  sql: Database;
  pauseFailing: (tx: Queryable, application_id: string, reason: string) => Promise<unknown>;
  resumeRecovered: (tx: Queryable, application_id: string) => Promise<unknown>;
};

/** Runs a transaction that may close a run; publishes the closed run after the commit. */
const transactAndPublish = async (
  sql: Database,
  work: (tx: Queryable) => Promise<RunRow | undefined>,
): Promise<RunRow | undefined> => {
  // The driver sends the first statement of `work` together with the longer limit.
  const [, run] = await sql.begin((tx) => Promise.all([allowLongStatements(tx), work(tx)]));
  if (run?.finished_at != null) runEnded.publish(run);
  return run;
};

/**
 * Counts the run's open games as failed.
 * @param kind `not_requested` when the run ends before their detail; `internal` when their detail job was lost
 */
const failOpen = async (tx: Queryable, run: RunRow, kind: 'not_requested' | 'internal'): Promise<void> => {
  const ids = await failOpenGames(tx, run.run_id);
  const failures = ids.map(
    (application_game_id): Failure => ({ application_game_id, kind, reasons: [{ path: '', code: kind }] }),
  );
  await recordFailures(tx, run.application_id, 'query_game_detail', failures);
};

/**
 * Takes a run whose listing has ended one step further, in one transaction under its fence: to the next page of games
 * that the listing did not name and whose detail shows whether they are gone, or to its end.
 * @param verifiedPage the unlisted page whose details have ended; undefined when there is none yet
 * @returns the run: closed, or open and past its next unlisted page; undefined when the fence is stale
 */
export const finishRun = (
  endings: RunEndings,
  fence: RunFence,
  verifiedPage?: number,
): Promise<RunRow | undefined> =>
  transactAndPublish(endings.sql, async (tx) => {
    const run = await lockRun(tx, fence);
    return run && endListing(tx, endings, run, verifiedPage);
  });

/**
 * Ends a listing whose last pages want no details: records them, and takes the run one step further like `finishRun`, in
 * one transaction. Of a catalogue that did not change, one statement does this.
 * @returns undefined when the fence is stale or another job has recorded the pages
 */
export const finishListing = async (endings: RunEndings, cursor: Unrecorded): Promise<RunRow | undefined> => {
  const unchanged = findUnchanged(cursor);
  const closed = unchanged && (await closeUnchanged(endings.sql, cursor.run, unchanged));
  if (closed !== undefined) {
    runEnded.publish(closed);
    return closed;
  }
  return transactAndPublish(endings.sql, async (tx) => {
    if (cursor.unrecorded.some(({ absent }) => absent.length > 0)) {
      // Before `recordPages` locks games: see `endListing`.
      if ((await lockRun(tx, cursor.run)) === undefined) return undefined;
      await lockBackoff(tx, cursor.run.application_id);
    }
    const run = await recordPages(tx, cursor);
    return run && endListing(tx, endings, run);
  });
};

/** @param run locked */
const endListing = async (
  tx: Queryable,
  { resumeRecovered }: RunEndings,
  run: RunRow,
  verifiedPage?: number,
): Promise<RunRow | undefined> => {
  const { run_id, application_id, listing_end: end } = run;
  if (end === null) return undefined;
  if (verifiedPage !== undefined) {
    if (run.next_page !== verifiedPage + 1) return undefined;
    const moved = await moveToUnlistedPage(tx, run_id);
    if (moved !== undefined) return moved;
  }
  let sums = await summariseListing(tx, run_id, application_id);
  if (sums.hasOpenGames) {
    await failOpen(tx, run, 'internal');
    sums = await summariseListing(tx, run_id, application_id);
  }
  const listing = { ...sums, end, acceptWithdrawals: run.accept_withdrawals };
  const plan = planUnlisted(listing);
  if (verifiedPage === undefined) {
    // Another delivery of this job has added the unlisted pages.
    if (sums.unlistedPages > 0) return undefined;
    const verifying = plan === 'verify' && (await insertUnlistedPages(tx, run, isComplete(listing)));
    if (verifying) return verifying;
  }
  // Whether a run is suspect does not depend on what becomes of the unlisted games.
  const isSuspect = judgeRun(listing, { kept: 0, unconfirmed: 0 }).outcome === 'suspect';
  // The application before its games, because a transaction that has locked the application may write games.
  if (plan !== 'keep') await lockBackoff(tx, application_id);
  const { withdrawn, ...verified } = await writeUnlisted(tx, run, plan, isComplete(listing));
  const { note, ...judged } = judgeRun(listing, verified);
  const updatesNote = await explainUpdates(tx, run, sums);
  if (isSuspect && end === 'complete') await recordVanishingGames(tx, run_id, application_id);
  else if (sums.hasVanishing && isComplete(listing)) await forgetVanishingGames(tx, application_id);
  if (sums.hasFailures && end === 'complete' && listing.unread.length === 0)
    await clearUnlistedFailures(tx, run_id, application_id);
  const notes = [note, updatesNote].filter((each) => each !== null).join('; ');
  // No row names the failures beyond this number, so the ages of all details stay as they are, and the next run fetches
  // them.
  const haveRows = sums.invalid + sums.failed + sums.missing <= STORAGE.failures;
  const closing = {
    ...judged,
    note: notes || null,
    withdrawn,
    isComplete: !isSuspect && isComplete(listing) && haveRows,
  };
  const closed = await closeRun(tx, run, closing, isSuspect ? 'suspect' : 'success');
  if (closed?.is_paused) await resumeRecovered(tx, application_id);
  return closed;
};

/** Withdraws or marks the unlisted games that are still there at the end of a run. */
const writeUnlisted = async (
  tx: Queryable,
  { run_id, application_id }: RunRow,
  plan: ReturnType<typeof planUnlisted>,
  isComplete: boolean,
): Promise<VerifiedGames & { withdrawn: number }> => {
  if (plan === 'withdraw')
    return { withdrawn: await withdrawUnlisted(tx, run_id, application_id), kept: 0, unconfirmed: 0 };
  if (plan === 'keep' || !isComplete) return { withdrawn: 0, kept: 0, unconfirmed: 0 };
  const { withdrawn, kept } = await withdrawOrMark(tx, run_id, application_id);
  return { withdrawn, kept, unconfirmed: withdrawn };
};

/** How a run ends before its listing has ended. */
type EarlyEnd = { outcome: 'failed' | 'abandoned'; reason: string; fault?: RunFault };

/**
 * Ends a run before its listing has ended, in the transaction of the caller. Its open games count as failed.
 * @returns undefined when the fence is stale
 */
export const closeEarly = async (
  tx: Queryable,
  fence: RunFence,
  end: EarlyEnd,
): Promise<RunRow | undefined> => {
  const run = await lockRun(tx, fence, 'removed');
  if (run === undefined) return undefined;
  await failOpen(tx, run, 'not_requested');
  return closeRun(tx, fence, end);
};

/** Ends a run as abandoned: no fault of its application, so its schedule does not back off. */
export const abandonRun = (sql: Database, fence: RunFence, reason: string) =>
  transactAndPublish(sql, (tx) => closeEarly(tx, fence, { outcome: 'abandoned', reason }));

/** The faults of an application. */
const DELAYING: ReadonlySet<RunFault> = new Set(['unreachable', 'application']);

/**
 * Ends a run as failed. The schedule of an application at fault backs off (src/rules/backoff.ts), unless the fleet
 * reaches hardly any.
 */
export const failRun = (
  { sql, pauseFailing }: RunEndings,
  fence: RunFence,
  reason: string,
  fault: RunFault,
): Promise<RunRow | undefined> =>
  transactAndPublish(sql, async (tx) => {
    const closed = await closeEarly(tx, fence, { outcome: 'failed', reason, fault });
    // Manual runs do not count, because an operator who tests a repair must not delay the schedule further.
    if (closed?.trigger !== 'schedule' || !DELAYING.has(fault)) return closed;
    if (fault === 'unreachable' && areMostUnreachable(await readReach(tx)))
      return addReason(tx, closed.run_id, `; ${MOST_UNREACHABLE}`);
    const pause_reason = await extendBackoff(tx, closed);
    if (pause_reason !== null) await pauseFailing(tx, closed.application_id, pause_reason);
    return closed;
  });

/** @returns why the application must be paused; null if it backs off */
const extendBackoff = async (tx: Queryable, run: RunRow): Promise<string | null> => {
  const before = await lockBackoff(tx, run.application_id);
  if (before === undefined) return null;
  const failed = { ...run, finished_at: run.finished_at ?? new Date() };
  const backoff = afterFailedRun(before, failed, before.every_ms);
  await saveBackoff(tx, run.application_id, backoff);
  return backoff.pause_reason;
};

/** Fails a run that is over its budget. @returns why; undefined when the run is within it */
export const failOverrun = async (
  endings: RunEndings,
  run: RunRow,
  now: Date,
): Promise<string | undefined> => {
  const reason = explainOverrun(run, now);
  if (reason !== undefined) await failRun(endings, run, reason, 'application');
  return reason;
};
