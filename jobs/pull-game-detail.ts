import { type Queryable, readClock } from '#db/client.ts';
import { type ApplicationRow, findApplication, lockCalledApplication } from '#db/queries/applications.ts';
import type { Failure } from '#db/queries/failures.ts';
import {
  addPulledBytes,
  countAttempts,
  deleteRefreshes,
  type GameRequest,
  listRequestedGames,
  postponeRefreshes,
  readIdleTurns,
} from '#db/queries/refreshes.ts';
import { maySucceedLater } from '#db/sqlstate.ts';
import { DETAIL_COUNTERS, type DetailCounts } from '#src/contract/words.ts';
import { coerceError } from '#src/errors.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { longestRetryAfter } from '#src/ingest/explain-failures.ts';
import { type DetailResult, fetchDetails, type WantedGame } from '#src/ingest/fetch-details.ts';
import { createJobPace } from '#src/ingest/for-each-paced.ts';
import { PULL_MAX, pullGameDetail } from '#src/ingest/specs.ts';
import {
  type DetailResults,
  finalFailures,
  finalIds,
  NO_COUNTS,
  writeBatches,
  writeGames,
} from '#src/ingest/write-details.ts';
import { defineJob } from '#src/queue/job.ts';
import { STORAGE } from '#src/rules/budgets.ts';
import { postponeMs, WAITING } from '#src/rules/waiting.ts';

const NO_APPLICATION = { skipped: 'no such application' };

/** Calls of one job last about this long; then other applications have their turn. */
const SLICE_S = 5;
/** Wait before the next turn of an application whose token does not open here. */
const NO_TOKEN_MS = 60_000;

/**
 * The requested details of an application, outside any run: those that an operator pulls or the application has changed.
 * Each request is deleted in the transaction that writes its result. Attempts and waits are in Postgres, because the queue
 * may be lost. What is left is pulled by the next job (src/ingest/urgent-jobs.ts).
 */
export const pullGameDetailJob = defineJob(
  pullGameDetail,
  async ({ application_id }, context: JobContext) => {
    const { sql } = context.deps;
    const application = await findApplication(sql, application_id);
    if (application === undefined) return NO_APPLICATION;
    const limit = Math.min(PULL_MAX, Math.max(1, Math.floor(application.rate * SLICE_S)));
    const endMs = performance.now() + SLICE_S * 1_000;
    const all = { ...NO_COUNTS };
    for (let isFull = true; isFull && performance.now() < endMs; ) {
      const requests = await listRequestedGames(sql, application_id, limit, STORAGE.bytesPerDay);
      if (requests.length === 0) break;
      const turn = await pullDetails(context, application, requests);
      if (turn === undefined) return NO_APPLICATION;
      for (const counter of DETAIL_COUNTERS) all[counter] += turn.counts[counter];
      isFull = turn.isDone && requests.length === limit;
    }
    return all;
  },
);

/** @returns what was written, and whether every request has its result; undefined if the application is removed */
const pullDetails = async (
  { deps, signal }: JobContext,
  application: ApplicationRow,
  requests: readonly GameRequest[],
): Promise<{ counts: DetailCounts; isDone: boolean } | undefined> => {
  const { sql } = deps;
  const { application_id } = application;
  const byId = new Map(requests.map((request) => [request.application_game_id, request]));
  /** Writes results, and deletes the requests of those that are final. */
  const writeResults = async (
    tx: Queryable,
    batch: readonly DetailResult[],
    notRetried: readonly Failure[] = [],
  ): Promise<DetailCounts | undefined> => {
    if (!(await lockCalledApplication(tx, application_id, application))) return undefined;
    const written = await writeGames(tx, application_id, batch, notRetried, { hasFailures: true });
    if (written.stored_bytes > 0) await addPulledBytes(tx, application_id, written.stored_bytes);
    const ids = [...finalIds(batch), ...notRetried.map((failure) => failure.application_game_id)];
    await deleteRefreshes(
      tx,
      application_id,
      ids.flatMap((id) => byId.get(id) ?? []),
    );
    return written;
  };
  /** Plans the next attempt after a failed write. If each write fails, the attempts end, because the games would be called for ever. */
  const planRewrite = async (tx: Queryable, error: Error): Promise<void> => {
    const unwritten = { open: [...byId.keys()], failures: [] };
    const given = await planRetries(tx, application_id, requests, unwritten, {
      kind: 'internal',
      isAttempt: !maySucceedLater(error),
    });
    if (given.length > 0) await writeResults(tx, [], given);
  };
  const target = await deps.openTarget(application).catch(async (error: unknown) => {
    await postponeRefreshes(sql, application_id, NO_TOKEN_MS);
    throw error;
  });
  const wanted = requests.map(({ application_game_id }): WantedGame => [application_game_id, '']);
  const pace = createJobPace(sql, application, signal);
  const answers = deps.memory.track();
  const batches = fetchDetails(deps.webhooks, target, wanted, pace, answers, await readClock(sql));
  const results = await writeBatches(wanted, batches, answers, (batch) =>
    sql.begin((tx) => writeResults(tx, batch)),
  ).catch(async (thrown: unknown) => {
    if (!signal.aborted) await sql.begin((tx) => planRewrite(tx, coerceError(thrown)));
    throw thrown;
  });
  signal.throwIfAborted();
  if (results === undefined) return undefined;
  const { counts, open } = results;
  if (open.length === 0) {
    await postponeRefreshes(sql, application_id, 0);
    return { counts, isDone: true };
  }
  return sql.begin(async (tx) => {
    const given = await planRetries(tx, application_id, requests, results);
    const failed = given.length === 0 ? NO_COUNTS : await writeResults(tx, [], given);
    return failed && { counts: { ...counts, failed: counts.failed + failed.failed }, isDone: false };
  });
};

/**
 * Decides when the open games of a turn are called again: after the delay that the application requests, which spends no
 * attempt, or after a growing delay.
 * @returns the failures of games whose attempts have ended
 */
const planRetries = async (
  tx: Queryable,
  application_id: string,
  requests: readonly GameRequest[],
  results: Pick<DetailResults, 'open' | 'failures'>,
  { kind, isAttempt = true }: { kind?: 'internal'; isAttempt?: boolean } = {},
) => {
  const { open, failures } = results;
  const hasProgressed = open.length < requests.length;
  const idleTurns = hasProgressed ? 0 : await readIdleTurns(tx, application_id);
  // Before the first idle turn, nothing was postponed, because the requests waited for something else.
  const postponed_ms = idleTurns === 0 ? 0 : Math.max(...requests.map(({ age_ms }) => age_ms));
  const requestedMs = longestRetryAfter(failures);
  const postponed = { postponed_ms, postponed_times: idleTurns };
  const delayMs = requestedMs === undefined ? undefined : postponeMs(requestedMs, postponed);
  if (delayMs !== undefined) {
    await postponeRefreshes(tx, application_id, delayMs, idleTurns + 1);
    return [];
  }
  const { attempts, backoffMs } = pullGameDetail.options;
  const waitMs = Math.min(backoffMs * 2 ** idleTurns, WAITING.retryAfterMaxMs);
  await postponeRefreshes(tx, application_id, Math.max(waitMs, requestedMs ?? 0), idleTurns + 1);
  if (!isAttempt) return [];
  // A turn without a final result is an attempt of all, because otherwise the pulls of a broken webhook would not end.
  const called = new Set(failures.map(({ application_game_id }) => application_game_id));
  const attempted = hasProgressed ? open.filter((id) => called.has(id)) : open;
  const ended = await countAttempts(tx, application_id, attempted, attempts);
  return finalFailures({ ...results, open: ended }, kind);
};
